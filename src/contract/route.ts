/** What there is to say of one route of the API. */
import type * as z from "zod/mini";
import type * as command from "./command.ts";

/**
 * Bodies are named, not referred to: the CLI and a starting daemon then load no schema library (5 ms of a 28 ms start).
 * The server loads command.ts at the first write.
 */
export type BodyName = {
  [K in keyof typeof command]: (typeof command)[K] extends z.ZodMiniType ? K : never;
}[keyof typeof command];

export interface Route {
  method: "GET" | "POST" | "DELETE";
  /** `{id}` stands for one path segment. */
  path: string;
  summary: string;
  /** Name of the schema in command.ts that the body has; without one the route takes no body. */
  body?: BodyName;
  query?: Record<string, string>;
  /** Name of the schema in wire.ts that the answer has; `[]` behind it for an array. */
  answer: string;
  /** Who may ask without a token. Only what says nothing and changes nothing may be `anyone`. */
  access?: "anyone" | "socket-only";
  /** Answered by a read-only daemon too, and why; every other POST and DELETE is refused there. */
  whileReadOnly?: {
    why: string;
    /** A field of the body that makes a change of it after all. */
    unless?: string;
    /** Only for the user's own commands. */
    via?: "socket";
  };
  /** The body is handed on as it comes, with the headers, and not as JSON: its sender signs exactly these bytes. */
  raw?: boolean;
}
