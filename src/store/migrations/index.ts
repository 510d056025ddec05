/** Every schema there ever was, oldest first: entry n leads from version n to n + 1. Published entries never change. */
import { first } from "./0001-first.ts";
import { chatLaunches } from "./0002-chat-launches.ts";
import { transcripts } from "./0003-transcripts.ts";

export const migrations: readonly string[] = [first, chatLaunches, transcripts];
