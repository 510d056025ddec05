/** What the lane needs to know about a real agent beyond its data file in `src/agents`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ConfigureRequest } from "../../../src/contract/chat.ts";
import type { ChatLane } from "../chat-lane.ts";

export interface AgentPackage {
  name: string;
  /** The version that our data file was seen to work with. */
  version: string;
  /** Its command, which must answer `--version` with the version; null for adapters that have no such option. */
  command: string | null;
}

/** The lane's test files, by the part of Holdfast that they drive. */
export type Suite = "terminal" | "chat" | "hardships" | "daemon" | "contained" | "network" | "delivery";

export interface PrepareOptions {
  home: string;
  modelUrl: string;
  /** Folders that the agent must trust; Codex asks about every repository that it does not know. */
  folders: string[];
  /** False lets Codex ask about our hooks, as it does at a user's first start. */
  trustHooks?: boolean;
  /** For a chat session; Codex's terminal interface refuses the policy that makes its adapter ask. */
  chat?: boolean;
}

export interface LaneAgent {
  packages: AgentPackage[];
  /** All of them unless given. */
  suites?: readonly Suite[];
  /** Writes the agent's files below `home` to skip every first-run dialog, and returns its environment. */
  prepare(options: PrepareOptions): Record<string, string>;
  /** How its permission request looks: a hook may report it before it can be answered. */
  asks: RegExp;
  /** tmux keys that allow a permission request once. */
  allow: string[];
  /** Where it keeps its conversations, below its home. */
  conversations: string[];
  /** An id that no conversation has; a UUID unless given. */
  unknownConversation?: string;
  /** A setting of a chat, and the request that applies it. Without one the agent has nothing to choose. */
  setting?: { pick: ConfigureRequest; method: string; value: string };
  /** Whether the agent itself still has a conversation; its transcripts name the id unless given. */
  keeps?: (lane: ChatLane, conversation: string) => Promise<boolean>;
  /** What the model receives instead of an image. */
  insteadOfImage?: string;
  /** Writes a turn to its transcript some 100 ms after its end. */
  writesLate?: boolean;
  /** Reads our settings only if no other user can write to a folder above them, so not below /tmp. */
  hooksNeedOwnFolder?: boolean;
  /** Too slow to be resumed in every suite: OpenCode's start, or Gemini's wait for the next minute. */
  slowToResume?: boolean;
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Outside the package's own dependencies; 1.7 GB. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const own = env["HOLDFAST_AGENTS_CACHE"];
  return own === undefined || own === "" ? join(import.meta.dirname, "../../../.cache/agents") : own;
}

export function binDirectory(cache = cacheDirectory()): string {
  return join(cache, "node_modules/.bin");
}

/** PATH with the lane's agents first. */
export function searchPath(): string {
  return `${binDirectory()}:${process.env["PATH"] ?? ""}`;
}
