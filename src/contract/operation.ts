/** What one operation of the API is. The files of the nouns define them, operations.ts is the list of all. */
import type * as zod from "zod/mini";
import type { AgentRight, Right } from "./rights.ts";

export type Zod = typeof zod;

/**
 * A schema by name. It is built when it is first used, with a zod that the caller has loaded: the CLI and the dashboard
 * read the operations and never load zod, which would add a third to the CPU time of `session ls`.
 */
export interface Schema<S extends zod.ZodMiniType = zod.ZodMiniType> {
  (z: Zod): S;
  /** The name in the OpenAPI document; `[]` at the end for a list. */
  id: string;
}

/** All of them, for the API description. */
export const schemas: Schema[] = [];

export function schema<S extends zod.ZodMiniType>(id: string, build: (z: Zod) => S): Schema<S> {
  let built: S | undefined;
  const made = Object.assign((z: Zod): S => (built ??= build(z)), { id });
  schemas.push(made);
  return made;
}

/** A schema that documents `T` loosely: the type is richer than zod needs to know, and newer daemons may add to it. */
export function documents<T>(id: string, build: (z: Zod) => zod.ZodMiniType): Schema<zod.ZodMiniType<T>> {
  return schema(id, (z) => build(z) as zod.ZodMiniType<T>);
}

export function list<S extends zod.ZodMiniType>(item: Schema<S>): Schema<zod.ZodMiniArray<S>> {
  return schema(`${item.id}[]`, (z) => z.array(item(z)));
}

/** A point in time, or null. */
export const time = (z: Zod) => z.nullable(z.iso.datetime());

export type Infer<T> = T extends Schema<infer S> ? zod.infer<S> : never;

/** Who may call an operation. */
export interface Who {
  /** The right a device needs. `anyone`: no credential is needed. `socket-only`: reachable over the unix sockets alone. */
  device: Right | "anyone" | "socket-only";
  /** What lets an agent call it, within the limits of that right; without one it is the user's alone. */
  agent?: AgentRight;
  /** Allowed on a read-only daemon too, and why; it refuses every other POST and DELETE. */
  whileReadOnly?: {
    why: string;
    /** A field of the input that makes the call a change after all. */
    unless?: string;
    /** Only over the user's own socket. */
    via?: "socket";
  };
}

export interface Operation {
  method: "GET" | "POST" | "DELETE";
  /** `{id}` stands for one path segment. */
  path: string;
  /** Imperative, for the API description and for help. */
  summary: string;
  who: Who;
  /** Names of query parameters, each with its meaning. */
  query?: Readonly<Record<string, string>> | undefined;
  /** The JSON body; without a schema the operation accepts none. */
  input?: Schema;
  /** Passes the body on as bytes, with the headers, because its sender signed exactly these bytes. */
  raw?: true;
  output: Schema;
}

export type Operations = Readonly<Record<string, Operation>>;

/** Callers that most operations name: devices that watch, also agents that read, devices that answer, the user alone. */
export const watchers: Who = { device: "watch" };
export const readers: Who = { device: "watch", agent: "read" };
export const answerers: Who = { device: "answer" };
export const user: Who = { device: "all" };

/** An operation that reads. */
export const get = <const Path extends string, O extends Schema, const Q extends Record<string, string> = never>(
  path: Path,
  summary: string,
  who: Who,
  output: O,
  query?: Q,
) => ({ method: "GET" as const, path, summary, who, output, query });

/** An operation that changes something. */
export const post = <const Path extends string, O extends Schema, I extends Schema>(
  path: Path,
  summary: string,
  who: Who,
  output: O,
  input: I,
) => ({ method: "POST" as const, path, summary, who, input, output });

const verbRequest = schema("verbRequest", (z) => z.strictObject({ wait: z.optional(z.boolean()) }));
export type VerbRequest = Infer<typeof verbRequest>;

/** One that needs nothing but its path; the input may say not to wait for the result. */
export const trigger = <const Path extends string, O extends Schema>(
  path: Path,
  summary: string,
  who: Who,
  output: O,
) => post(path, summary, who, output, verbRequest);
