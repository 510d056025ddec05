/** Where the types used to be; removed once every importer names the noun's own file. */
export type * from "./session.ts";
export type * from "./spawn.ts";
export type * from "./prompt.ts";
export type * from "./chat.ts";
export type * from "./permission.ts";
export type * from "./terminal.ts";
export type * from "./worktree.ts";
export type * from "./trash.ts";
export type * from "./project.ts";
export type { TrackerJson } from "./tracker.ts";
export type * from "./push.ts";
export type * from "./device.ts";
export type * from "./daemon.ts";
/** Loose; stream.ts has the union. */
export type EventJson = { seq: number; at: string; type: string; [field: string]: unknown };
