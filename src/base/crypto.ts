/** Loading node:crypto takes 8 ms, a tenth of the daemon's whole start, and nothing before its first answer needs it. */
export const crypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");
