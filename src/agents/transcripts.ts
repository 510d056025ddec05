/**
 * The prompts in an agent's own transcript, newest file first. Only its end is read, and only lines that were written
 * since the prompt was typed count: the same text may stand there from before.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { attempt, parseObject } from "../base/attempt.ts";
import { bootId, startedAt } from "../base/pid.ts";
import type { TranscriptOf } from "../ports/agents.ts";

const tailBytes = 1024 * 1024;
/** Clocks of file systems are coarse. */
const slackMs = 1000;

export function readClaudePrompts(of: TranscriptOf): string[] {
  const config = agentFolder(of, ".claude", "CLAUDE_CONFIG_DIR");
  const project = join(config, "projects", of.workspace.replaceAll(/[^A-Za-z0-9]/g, "-"));
  if (of.agentSessionId === null) return [];
  return linesOf(join(project, `${of.agentSessionId}.jsonl`), of.since).flatMap(claudePrompt);
}

export function claudePrompt(line: Line): string[] {
  if (line["type"] === "queue-operation" && line["operation"] === "enqueue") return textOf(line["content"]);
  return line["type"] === "user" && line["isMeta"] !== true ? textOf(part(line["message"], "content")) : [];
}

/** Without hooks its id is not known: then the folder that its file names decides. */
export function readCodexPrompts(of: TranscriptOf): string[] {
  const sessions = join(agentFolder(of, ".codex", "CODEX_HOME"), "sessions");
  const files = of.agentSessionId === null ? codexFilesOf(sessions, of) : codexFileOf(sessions, of.agentSessionId);
  return files
    .filter((file) => isChanged(file, of.since))
    .flatMap((file) => linesOf(file, of.since))
    .flatMap(codexPrompt);
}

/** By folder and id. A conversation's file stays in the folder of the day on which it began, however old that is. */
const foundCodexFiles = new Map<string, string>();

function codexFileOf(sessions: string, id: string): string[] {
  const key = join(sessions, id);
  const known = foundCodexFiles.get(key);
  if (known !== undefined && existsSync(known)) return [known];
  for (const folder of codexFolders(sessions, "")) {
    const name = namesIn(folder).find((one) => codexFile.test(one) && one.includes(id));
    if (name === undefined) continue;
    foundCodexFiles.set(key, join(folder, name));
    return [join(folder, name)];
  }
  return [];
}

/** Its conversation began after the process did: one that is resumed has a known id. */
function codexFilesOf(sessions: string, { process, workspace, since }: TranscriptOf): string[] {
  const started = startedAt({ ...process, bootId: bootId() });
  // A day more, for a clock or a time zone that changed.
  const first = started === null ? "" : dayFolder(Math.min(started, since) - 24 * 60 * 60_000);
  return codexFolders(sessions, first)
    .flatMap((folder) => changedFiles(folder, since, codexFile, 0))
    .filter((file) => readEnd(file, "first", 4096).includes(`"cwd":${JSON.stringify(workspace)}`));
}

const codexFile = /^rollout-.*\.jsonl$/;

/** `sessions/2026/01/31`, newest first, from the day `first` on. */
function codexFolders(sessions: string, first: string): string[] {
  let days = [""];
  for (const length of ["2026", "2026/01", "2026/01/31"].map((example) => example.length)) {
    days = days
      .flatMap((day) => namesIn(join(sessions, day)).map((name) => (day === "" ? name : `${day}/${name}`)))
      .filter((day) => day >= first.slice(0, length));
  }
  return days
    .toSorted()
    .toReversed()
    .map((day) => join(sessions, day));
}

/** Codex names it by local time. */
function dayFolder(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${date.getFullYear()}/${two(date.getMonth() + 1)}/${two(date.getDate())}`;
}

export function codexPrompt(line: Line): string[] {
  const payload = line["payload"];
  const isPrompt = line["type"] === "response_item" && part(payload, "type") === "message";
  return isPrompt && part(payload, "role") === "user" ? textOf(part(payload, "content")) : [];
}

export function readGeminiPrompts(of: TranscriptOf): string[] {
  const id = of.agentSessionId?.slice(0, 8);
  if (id === undefined) return [];
  const files = changedFiles(join(agentFolder(of, ".gemini"), "tmp"), of.since, /^session-.*\.jsonl$/, 3);
  return files
    .filter((file) => file.includes(id))
    .flatMap((file) => linesOf(file, of.since))
    .flatMap(geminiPrompt);
}

export function geminiPrompt(line: Line): string[] {
  return line["type"] === "user" ? textOf(line["content"]) : [];
}

type Line = Record<string, unknown>;

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  const texts = content.map((one) => part(one, "text")).filter((text) => typeof text === "string");
  return texts.length === 0 ? [] : [...texts, texts.join("\n")];
}

function part(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Line)[name] : undefined;
}

function linesOf(file: string, since: number): Line[] {
  return readEnd(file, "last", tailBytes)
    .split("\n")
    .map((text) => parseObject(text))
    .filter((line) => line !== null)
    .filter((line) => writtenBy(String(line["timestamp"])) >= since);
}

/** To the millisecond, so that the same prompt a moment before does not count; a time in complete seconds was cut off. */
function writtenBy(timestamp: string): number {
  return Date.parse(timestamp) + (timestamp.includes(".") ? 0 : slackMs);
}

/** The first or last bytes of a file; empty if it cannot be read. */
function readEnd(path: string, end: "first" | "last", bytes: number): string {
  try {
    // Does not wait for a pipe that a contained agent left in its place.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(size, bytes));
      const from = end === "first" ? 0 : size - buffer.length;
      return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

function namesIn(directory: string): string[] {
  return attempt(() => readdirSync(directory), []);
}

function changedFiles(directory: string, since: number, name: RegExp, depth: number): string[] {
  return attempt(() => readdirSync(directory, { withFileTypes: true }), []).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return depth > 0 ? changedFiles(path, since, name, depth - 1) : [];
    return name.test(entry.name) && isChanged(path, since) ? [path] : [];
  });
}

function isChanged(path: string, since: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs >= since - slackMs;
}

/** Where the agent keeps its state: in a contained session's own home, else as its environment names it. */
export function agentFolder(of: Pick<TranscriptOf, "process" | "ownHome">, name: string, named?: string): string {
  const { ownHome = null } = of;
  if (ownHome !== null) return join(ownHome, name);
  return (named === undefined ? undefined : variable(of, named)) ?? join(variable(of, "HOME") ?? homedir(), name);
}

/** Of the environment the agent was started with; undefined if the system does not show it. */
function variable({ process }: Pick<TranscriptOf, "process">, name: string): string | undefined {
  const pairs = attempt(() => readFileSync(`/proc/${process.pid}/environ`, "utf8"), "").split("\0");
  const found = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  return found === "" ? undefined : found;
}
