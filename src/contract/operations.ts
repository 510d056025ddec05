/** Every operation of the API, and the types that follow: the server, the client and the handlers are derived from here. */
import type * as zod from "zod/mini";
import { chatOperations } from "./chat.ts";
import { daemonOperations } from "./daemon.ts";
import { deviceOperations } from "./device.ts";
import type { Operation, Schema } from "./operation.ts";
import { permissionOperations } from "./permission.ts";
import { projectOperations } from "./project.ts";
import { promptOperations } from "./prompt.ts";
import { pushOperations } from "./push.ts";
import { sessionOperations } from "./session.ts";
import { spawnOperations } from "./spawn.ts";
import { streamOperations } from "./stream.ts";
import { terminalOperations } from "./terminal.ts";
import { trackerOperations } from "./tracker.ts";
import { trashOperations } from "./trash.ts";
import { worktreeOperations } from "./worktree.ts";

export const operations = {
  ...daemonOperations,
  ...deviceOperations,
  ...sessionOperations,
  ...spawnOperations,
  ...promptOperations,
  ...chatOperations,
  ...permissionOperations,
  ...terminalOperations,
  ...worktreeOperations,
  ...projectOperations,
  ...trashOperations,
  ...trackerOperations,
  ...pushOperations,
  ...streamOperations,
};

type Table = typeof operations;
export type OperationName = keyof Table;

/** Parameter names of a path: `id` and `prompt` of `/api/sessions/{id}/prompts/{prompt}`. */
type Parameters<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Parameters<Rest> : never;
export type Params<N extends OperationName> = { [P in Parameters<Table[N]["path"]>]: string };

export type Query<N extends OperationName> = Table[N] extends { query: infer Q } ? QueryOf<NonNullable<Q>> : object;
type QueryOf<Q> = [Q] extends [never] ? object : { [P in keyof Q]?: string };

/** What a handler receives as its input: a body that its schema accepted, bytes, or nothing. */
export type Input<N extends OperationName> = InputOf<Table[N]>;
type InputOf<O> = O extends { input: Schema<infer S> } ? zod.output<S> : O extends { raw: true } ? RawBody : undefined;

/** What a client may send. */
export type ClientInput<N extends OperationName> = ClientInputOf<Table[N]>;
type ClientInputOf<O> = O extends { input: Schema<infer S> } ? zod.input<S> : undefined;

export type Output<N extends OperationName> = OutputOf<Table[N]>;
type OutputOf<O> = O extends { output: Schema<infer S> } ? zod.output<S> : never;

/** The body of an operation that accepts bytes. */
export interface RawBody {
  /** Passes each chunk on as it arrives and keeps none. Throws if the body is too long or cut off, or too many are being read. */
  read(take: (chunk: Uint8Array) => void): Promise<void>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export const operationNames = Object.keys(operations) as OperationName[];

/** The operation with its optional parts, whichever it is. */
export function operation(name: OperationName): Operation {
  return operations[name];
}

/** Names of the parameters in a path, in order. */
export function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
}
