/**
 * The only caller of the tmux binary. Uses our own server (own socket name, own config, clean environment); never touches
 * the user's tmux, and never stops a server.
 */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makePrivateDirectory, keepWritten } from "../base/durable-file.ts";
import { startChild, whyNotStarted } from "../base/run.ts";

/** Fires on every death and every closed session, so that one waiting call replaces polling. */
export const hintChannel = "holdfast-hint";

/** Lines a pane keeps for scrolling back; some 10 MB at most for a busy agent. */
const historyLines = 20_000;

/** TERM in the panes. */
export const defaultTerminal = "tmux-256color";

/** Read once, when the server starts; the user's config is not read. */
function tmuxConfig(socketName: string): string {
  return [
    `# Written by Holdfast for its own tmux server (socket ${socketName}). Changes are overwritten.`,
    `set -g history-limit ${historyLines}`,
    // A dead agent's pane stays until its exit status and last lines are recorded.
    "set -g remain-on-exit on",
    "set -gq remain-on-exit-format ''",
    // The server goes with its last session, so that nothing is left behind.
    "set -g exit-empty on",
    "set -g exit-unattached off",
    "set -g destroy-unattached off",
    "set -g detach-on-destroy on",
    `set -g default-terminal ${defaultTerminal}`,
    "set -ga terminal-features ',*:RGB'",
    "set -g escape-time 10",
    // Keys mean the same however quickly they come; a paste is bracketed.
    "set -g assume-paste-time 0",
    "set -g status off",
    "set -g mouse on",
    "set -g focus-events on",
    "set -g window-size latest",
    "set -g set-titles off",
    "set -g automatic-rename off",
    "set -g allow-rename off",
    // What an agent prints must not reach the user's clipboard or outer terminal.
    "set -g set-clipboard off",
    "set -gq allow-passthrough off",
    // Its menu would let a click end or restart the agent's pane.
    "unbind-key -qn MouseDown3Pane",
    "unbind-key -qn M-MouseDown3Pane",
    // A viewer's environment is not the agent's.
    "set -g update-environment ''",
    "set -g monitor-activity off",
    "set -g visual-activity off",
    "set -g bell-action none",
    `set-hook -g pane-died 'wait-for -S ${hintChannel}'`,
    `set-hook -g session-closed 'wait-for -S ${hintChannel}'`,
    "",
  ].join("\n");
}

export type TmuxReply =
  | { is: "ok"; stdout: string }
  /** No server runs on our socket: nothing of ours is in tmux. */
  | { is: "no-server" }
  /** tmux answered and refused. */
  | { is: "refused"; message: string }
  /** No response, or no reliable one: nothing destructive may follow. */
  | { is: "unknown"; why: string };

export interface TmuxCall {
  /** Run in order inside the server as one list, up to the first that is refused. */
  commands: readonly (readonly string[])[];
  stdin?: string;
  deadlineMs?: number;
  /** Only the call that creates a session can start a server. */
  mayStartServer?: boolean;
}

export interface TmuxOptions {
  socketName: string;
  /** The id of our home. */
  home?: string;
  configDirectory: string;
  env: NodeJS.ProcessEnv;
  /** argv before `tmux` when a server is started, such as a systemd scope that outlives our unit. */
  serverPrefix?: readonly string[];
  callDeadlineMs?: number;
}

/** A server under load responds within milliseconds; a stopped or swapped out one does not respond at all. */
const defaultDeadlineMs = 5000;
/** A server without sessions exits within milliseconds, later on a busy machine. */
const serverEndMs = 5000;
/** A server that does not respond for this long is stopped, not about to exit. */
const tidyAnswerMs = 2000;
const tidyPollMs = 5;
/** Far above 500 sessions' lines or a 1 MB capture. */
const maxOutputBytes = 64 * 1024 * 1024;

export class Tmux {
  readonly home: string | null;
  readonly #socketName: string;
  readonly #config: string;
  readonly #env: Record<string, string>;
  readonly #serverPrefix: readonly string[];
  readonly #deadlineMs: number;
  /** Calls that may be starting a server right now: its socket must not be removed meanwhile. */
  #starting = 0;
  #tidying: Promise<void> | null = null;
  #problems: Promise<string[]> | undefined;

  constructor(options: TmuxOptions) {
    makePrivateDirectory(options.configDirectory);
    this.home = options.home ?? null;
    this.#socketName = options.socketName;
    this.#config = join(options.configDirectory, "tmux.conf");
    this.#env = serverEnvironment(options.env);
    this.#serverPrefix = options.serverPrefix ?? [];
    this.#deadlineMs = options.callDeadlineMs ?? defaultDeadlineMs;
    keepWritten(this.#config, tmuxConfig(options.socketName));
  }

  async run(call: TmuxCall): Promise<TmuxReply> {
    const argv = [...this.#command(), ...commandList(call.commands)];
    const deadlineMs = call.deadlineMs ?? this.#deadlineMs;
    if (call.mayStartServer !== true) return execute(argv, this.#env, call.stdin, deadlineMs);
    // No await between the check and the count, or the socket could be removed in between.
    while (this.#tidying !== null) await this.#tidying;
    this.#starting += 1;
    try {
      return await execute([...this.#serverPrefix, ...argv], this.#env, call.stdin, deadlineMs);
    } finally {
      this.#starting -= 1;
    }
  }

  /** Checked again until there is no problem: the user may install a newer tmux. */
  async preflight(): Promise<string[]> {
    this.#problems ??= execute(["tmux", "-V"], this.#env, undefined, this.#deadlineMs).then(judgeVersion);
    const problems = await this.#problems;
    // Problems may pass: without a free descriptor no tmux can run either.
    if (problems.length > 0) this.#problems = undefined;
    return problems;
  }

  /** tmux leaves its socket file when it exits with its last session; removed here once no server responds. */
  async tidy(): Promise<void> {
    if (this.#starting > 0) return;
    this.#tidying ??= this.#tidyNow().finally(() => (this.#tidying = null));
    await this.#tidying;
  }

  async #tidyNow(): Promise<void> {
    const until = performance.now() + serverEndMs;
    for (;;) {
      const askedAt = performance.now();
      const reply = await this.run({ commands: [["list-sessions", "-F", "#{session_id}"]], deadlineMs: tidyAnswerMs });
      if (reply.is === "no-server") {
        const socket = this.#socketPath();
        // The second is locked by tmux clients while one of them starts a server.
        for (const file of [socket, `${socket}.lock`]) rmSync(file, { force: true });
        return;
      }
      // No sessions, or "server exited": it is about to exit.
      const stays = reply.is === "ok" ? reply.stdout !== "" : performance.now() - askedAt >= tidyAnswerMs;
      if (stays || performance.now() >= until) return;
      await delay(tidyPollMs);
    }
  }

  /** Waits inside the server until something signals the channel, or until aborted. */
  waitFor(channel: string, signal: AbortSignal): Promise<TmuxReply> {
    return execute([...this.#command(), "wait-for", channel], this.#env, undefined, null, signal);
  }

  #socketPath(): string {
    return join("/tmp", `tmux-${process.getuid?.() ?? 0}`, this.#socketName);
  }

  #command(): string[] {
    // -u: without it titles and screens lose all characters that are not ASCII.
    return ["tmux", "-u", "-L", this.#socketName, "-f", this.#config];
  }

  /** A client of our own server, with nothing of the user's tmux around it. */
  clientCommand(args: readonly string[]): { file: string; args: string[]; env: Record<string, string> } {
    const [file, ...rest] = this.#command();
    return { file: file!, args: [...rest, ...args], env: this.#env };
  }

  attachArguments(sessionName: string): string[] {
    // By path: in a shell that sets TMUX_TMPDIR the name alone means another socket.
    return ["tmux", "-S", this.#socketPath(), "attach", "-t", `=${sessionName}`];
  }
}

/** The first version with pane options and exact targets. */
const oldest = [3, 2] as const;

/** An unknown version (`tmux master`) is accepted. */
export function judgeVersion(reply: TmuxReply): string[] {
  if (reply.is === "unknown") return [`tmux does not run (${reply.why}). Check that it is installed, and try again.`];
  if (reply.is !== "ok") return ["tmux does not run. Install it with your package manager."];
  const [major = Infinity, minor = 0] = (/(\d+)\.(\d+)/.exec(reply.stdout) ?? []).slice(1).map(Number);
  const enough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  return enough ? [] : [`${reply.stdout.trim()} is too old. Install tmux ${oldest.join(".")} or newer.`];
}

function commandList(commands: TmuxCall["commands"]): string[] {
  return commands.flatMap((command, index) => [...(index === 0 ? [] : [";"]), ...command.map(argument)]);
}

/** A `;` at the end of an argument would end the tmux command. */
function argument(text: string): string {
  return text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
}

/** The base environment of a server and its panes, without TMUX* and agents' variables. */
const serverVariables = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_RUNTIME_DIR"];

function serverEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  // TMUX_TMPDIR is left out on purpose: two daemons that differ in it would look for the same server in two places,
  // and the second would take "no server" for "all dead".
  const clean: Record<string, string> = { TERM: "xterm-256color", SHELL: "/bin/sh" };
  for (const name of serverVariables) {
    const value = env[name];
    if (value !== undefined && value !== "") clean[name] = value;
  }
  return clean;
}

async function execute(
  argv: readonly string[],
  env: Record<string, string>,
  stdin: string | undefined,
  deadlineMs: number | null,
  signal?: AbortSignal,
): Promise<TmuxReply> {
  const [file, ...args] = argv;
  // The first call's directory becomes the server's: it must not keep a worktree or a mount busy.
  const input = stdin === undefined ? "ignore" : "pipe";
  let child: ReturnType<typeof spawn>;
  try {
    child = await startChild(() => spawn(file!, args, { env, cwd: "/", stdio: [input, "pipe", "pipe"] }), {
      forMs: deadlineMs ?? 0,
    });
  } catch (error) {
    return { is: "unknown", why: `tmux could not be started: ${whyNotStarted(error)}` };
  }
  return await new Promise((resolve) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    // Does not wait for `close`: a client passes its pipes to the server, and a stopped server keeps them open.
    const giveUp = (why: string): void => {
      child.kill("SIGKILL");
      for (const stream of child.stdio) stream?.destroy();
      settle({ is: "unknown", why });
    };
    const timer =
      deadlineMs === null
        ? undefined
        : setTimeout(() => giveUp(`tmux did not answer within ${deadlineMs} ms`), deadlineMs);
    const abort = (): void => giveUp("given up");
    signal?.addEventListener("abort", abort, { once: true });
    const settle = (reply: TmuxReply): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(reply);
    };
    child.on("error", (error) => settle({ is: "unknown", why: `tmux could not be run: ${error.message}` }));
    child.stdout!.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) giveUp("tmux printed too much");
      else out.push(chunk);
    });
    child.stderr!.on("data", (chunk: Buffer) => err.push(chunk));
    // tmux may be gone before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
    child.on("close", (code, killedBy) => {
      if (code === 0) settle({ is: "ok", stdout: Buffer.concat(out).toString("utf8") });
      else settle(classify(Buffer.concat(err).toString("utf8").trim(), code, killedBy));
    });
    if (signal?.aborted === true) abort();
  });
}

/** The message for a missing server differs between versions; any other message means unknown. */
export function classify(message: string, code: number | null, killedBy: string | null = null): TmuxReply {
  if (code === null) return { is: "unknown", why: `tmux was ended by ${killedBy ?? "a signal"}` };
  if (/^no server running on /m.test(message)) return { is: "no-server" };
  if (/^error connecting to .*\(No such file or directory\)/m.test(message)) return { is: "no-server" };
  if (
    /^(duplicate session|can't find (session|pane|window)|no buffer|no such|unknown |invalid |bad |not in a mode)/m.test(
      message,
    )
  ) {
    return { is: "refused", message };
  }
  return { is: "unknown", why: message === "" ? `tmux ended with status ${code}` : message };
}
