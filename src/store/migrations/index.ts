/** Every schema so far, oldest first: entry n migrates version n to n + 1. Published entries never change. */
import { first } from "./0001-first.ts";
import { chatLaunches } from "./0002-chat-launches.ts";
import { transcripts } from "./0003-transcripts.ts";

export const migrations: readonly string[] = [first, chatLaunches, transcripts];
