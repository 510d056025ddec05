/** Requests from inside an agent's process tree, under various disguises. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DaemonAnswer, DaemonRequest } from "../agents/asks-daemon.ts";
import type { ChatHome } from "./chat.ts";
import { until } from "./until.ts";

const program = join(import.meta.dirname, "../agents/asks-daemon.ts");
const unseen = join(import.meta.dirname, "../agents/asks-unseen.sh");

export type Disguise =
  /** As the agent starts its tools. */
  | "none"
  /** Without the variables that identify the session. */
  | "unnamed"
  /** Without any variable, as Codex starts MCP servers. */
  | "cleared";

export interface Asked {
  env: Record<string, string>;
  answers: DaemonAnswer[];
}

/** Makes the session's demo agent run a program that sends these requests. */
export async function askAs(
  home: ChatHome,
  session: string,
  disguise: Disguise,
  requests: DaemonRequest[],
): Promise<Asked> {
  const directory = directoryOf(home, `${session}-${disguise}`);
  const cleared = `env -i PATH=/usr/bin:/bin ${process.execPath}`;
  const unnamed = `env -u HOLDFAST_SESSION -u HOLDFAST_LAUNCH -u HOLDFAST_CAPABILITY ${process.execPath}`;
  const start = { none: process.execPath, unnamed, cleared }[disguise];
  writeFileSync(join(directory, "ask.json"), JSON.stringify(requests));
  const { text } = await home.turn(session, `tool: ${start} ${program} ${directory}`);
  try {
    return JSON.parse(readFileSync(join(directory, "answer.json"), "utf8")) as Asked;
  } catch (cause) {
    throw new Error(`the agent's program did not answer: ${text}`, { cause });
  }
}

/** The same from a process that has left the agent's tree and environment, and outlives its turn. */
export class UnseenAsker {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async start(home: ChatHome, session: string): Promise<UnseenAsker> {
    const directory = directoryOf(home, `${session}-unseen`);
    await home.turn(session, `tool: ${unseen} ${process.execPath} ${directory}`);
    return new UnseenAsker(directory);
  }

  async ask(requests: DaemonRequest[]): Promise<DaemonAnswer[]> {
    const file = join(this.#directory, "answer.json");
    rmSync(file, { force: true });
    const asked = join(this.#directory, "ask.json");
    writeFileSync(`${asked}.new`, JSON.stringify(requests));
    renameSync(`${asked}.new`, asked);
    const text = await until("the answers", () => readFileSync(file, "utf8"));
    return (JSON.parse(text) as Asked).answers;
  }
}

function directoryOf(home: ChatHome, name: string): string {
  const directory = join(home.directory, `asks-${name}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return directory;
}
