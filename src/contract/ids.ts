/** Names that must not be mixed up. A brand costs nothing at run time. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type ProjectId = Branded<"ProjectId">;
/** `<prefix>-<n>` or `<prefix>-<issue>`: never reused, never renamed. */
export type SessionId = Branded<"SessionId">;
/** One start of an agent. Timers, records and tmux options carry it, so an old one can never act on a new one. */
export type LaunchId = Branded<"LaunchId">;
/** Minted by the client, so that a retry is safe. */
export type PromptId = Branded<"PromptId">;
export type TrashId = Branded<"TrashId">;

export const projectIdPattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const prefixPattern = /^[a-z][a-z0-9]{0,15}$/;
export const sessionIdPattern = /^[a-z][a-z0-9]{0,15}-[a-z0-9][a-z0-9-]{0,62}$/;
export const promptIdPattern = /^[A-Za-z0-9_.:-]{1,128}$/;

export const asProjectId = (text: string): ProjectId => text as ProjectId;
export const asSessionId = (text: string): SessionId => text as SessionId;
export const asLaunchId = (text: string): LaunchId => text as LaunchId;
export const asPromptId = (text: string): PromptId => text as PromptId;
export const asTrashId = (text: string): TrashId => text as TrashId;
