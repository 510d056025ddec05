/** Every schema there ever was, oldest first: entry n leads from version n to n + 1. Published entries never change. */
import { first } from "./0001-first.ts";

export const migrations: readonly string[] = [first];
