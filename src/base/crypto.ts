/** Loading node:crypto takes 8 ms, a tenth of the daemon's whole start, and nothing before its first answer needs it. */
import type nodeCrypto from "node:crypto";

export const crypto = (): typeof nodeCrypto => process.getBuiltinModule("node:crypto");
