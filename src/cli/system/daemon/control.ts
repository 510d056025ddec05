/** Starts, stops and restarts the daemon, for commands and for the automatic start. */
import {
  keepLaunch,
  takeBackLaunch,
  type DaemonFile,
  defaultLaunchOptions,
  type LaunchOptions,
} from "../../../base/launch-options.ts";
import { namedVariables } from "../../../config/pass-env.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { Output } from "../../../contract/operations.ts";
import { clientOf, hasPulse } from "./connection.ts";
import type { Context } from "../../context.ts";
import { findDaemon, findSettledDaemon } from "./find-daemon.ts";
import { installBuild } from "./install-build.ts";
import {
  choosePassphrase,
  optionsToReplay,
  type PassphraseSources,
  rememberLaunch,
  storedPassphrase,
  admitPassphrase,
  rememberMark,
} from "./launch-options.ts";
import { bareHost, isLoopback } from "../../../base/addresses.ts";
import { assertTls, reachProblems, problemLines } from "./reach.ts";
import { serviceName } from "../service/service.ts";
import {
  becomeDaemon,
  type HomeChoice,
  prepareHome,
  startDaemon,
  type Started,
  type StartSurroundings,
  waitForOther,
} from "./start.ts";
import { writeHome } from "./write-home.ts";
import { type Identity, isAlive, signalIdentity } from "../../../base/pid.ts";

type Ended = "gone" | "terminated" | "killed";

/** A stop takes less than a second; on a busy machine the daemon gets more time before it is killed. */
const gracefulMs = 10_000;
const pollMs = 10;

interface EndOptions {
  /** It was asked over its socket to stop. */
  asked: boolean;
  print: (text: string) => void;
  waitMs?: number;
}

/** Stops a daemon by its identity, in stages. Never touches its sessions. */
export async function endDaemon(identity: Identity, { asked, print, waitMs = gracefulMs }: EndOptions): Promise<Ended> {
  if (await isGone(identity, asked ? waitMs : 0)) return "gone";
  if (!signalIdentity(identity, "SIGTERM")) return "gone";
  if (await isGone(identity, waitMs)) return "terminated";
  print(`The daemon (pid ${identity.pid}) did not exit within ${waitMs / 1000} s of SIGTERM; killing it.`);
  signalIdentity(identity, "SIGKILL");
  await isGone(identity, gracefulMs);
  return "killed";
}

async function isGone(identity: Identity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
  return true;
}

/** Longer than anything the daemon does between two responses. */
const askDeadlineMs = 5_000;

export interface StartRequest {
  options: LaunchOptions;
  passphraseFile?: string | undefined;
  foreground?: boolean;
  home?: HomeChoice;
  /** It is started to halt the sessions, which is allowed even in read-only mode. */
  mayHalt?: boolean;
}

export interface StartOutcome extends Omit<Started, "ours"> {
  start: "started" | "already-running";
  publicUrls: readonly string[];
}

/** Never changes a running daemon, whatever the options. */
export async function start(context: Context, request: StartRequest): Promise<StartOutcome> {
  const { paths, env } = context;
  const { home = null } = request;
  const found = findDaemon(paths);
  if (found.daemon === "running") {
    if (await hasPulse(found.file.socket, askDeadlineMs)) return alreadyRunning(found.file, request);
    // A stopping daemon has already closed its socket; a hanging one does not exit.
    if (!(await isGone(found.file, askDeadlineMs))) {
      throw new HoldfastError("unreachable", `The daemon (pid ${found.file.pid}) is not responding.`, {
        hint: "Replace it with `holdfast restart`; sessions keep running.",
      });
    }
  }
  if (found.daemon === "starting") {
    const other = await waitForOther(paths);
    if (other !== null) return alreadyRunning(other, request);
  }
  assertTls(request.options);
  const passphrase = usedPassphrase(request.options, { file: request.passphraseFile, env, paths });
  const mark = passphrase === null ? null : admitPassphrase(paths, passphrase);
  const bundle = writeHome(paths, () => {
    prepareHome(paths);
    const installed = installBuild(paths, context.dist);
    rememberLaunch(paths, request.options, passphrase);
    rememberMark(paths, mark);
    return installed;
  });
  // The daemon keeps the options once it is ready.
  const names = (await namedVariables(paths)).map(({ name }) => name);
  if (request.foreground === true) {
    for (const line of problemLines(reachProblems(request.options, paths))) context.err(line);
    becomeDaemon(bundle, { paths, env, home, names });
  }
  const daemon = await startOrTakeBack(context, bundle, { home, names, mayHalt: request.mayHalt ?? false });
  if (!daemon.ours) return alreadyRunning(daemon, request);
  const { publicUrls } = request.options;
  const notes = [...daemon.notes, ...problemLines(reachProblems(request.options, paths))];
  const { url, pid } = daemon;
  return { start: "started", url, pid, notes, publicUrls };
}

/** Without passphrase login, a passphrase in the environment is neither stored nor checked. */
function usedPassphrase(options: LaunchOptions, sources: PassphraseSources): string | null {
  const given = choosePassphrase(options, sources);
  return options.auth === "passphrase" || !isLoopback(bareHost(options.host)) ? given : null;
}

/** A running daemon keeps its options; the notes name the requested options that had no effect. */
function alreadyRunning(
  { url, pid, options }: { url: string; pid: number; options?: LaunchOptions },
  { options: asked, passphraseFile }: StartRequest,
): StartOutcome {
  const publicUrls = options?.publicUrls ?? [];
  const missing = options === undefined ? [] : missingOptions({ url, options }, asked);
  if (passphraseFile !== undefined) missing.push("--passphrase-file");
  const notes =
    missing.length === 0
      ? []
      : [
          `It keeps its options; ${missing.join(", ")} had no effect. To change them, run holdfast stop, then start it again.`,
        ];
  return { start: "already-running", url, pid, publicUrls, notes };
}

/** Requested options that the running daemon was not started with. */
function missingOptions({ url, options }: { url: string; options: LaunchOptions }, asked: LaunchOptions): string[] {
  const differs = (name: keyof LaunchOptions): boolean =>
    JSON.stringify(asked[name]) !== JSON.stringify(options[name] ?? defaultLaunchOptions[name]);
  const isAsked = (name: keyof LaunchOptions): boolean => asked[name] !== defaultLaunchOptions[name] && differs(name);
  const port = Number(new URL(url).port);
  const found: [string, boolean][] = [
    ["--host", isAsked("host")],
    ["--port", asked.portGiven && asked.port !== 0 && asked.port !== port],
    ["--auth", isAsked("auth")],
    ["--public-url", differs("publicUrls")],
    ["--tls-cert", differs("tlsCert")],
    ["--tls-key", differs("tlsKey")],
    ["--read-only", isAsked("readOnly")],
    ["--log-level", isAsked("logLevel")],
    ["--no-restore", isAsked("restore")],
  ];
  return found.flatMap(([name, isMissing]) => (isMissing ? [name] : []));
}

async function startOrTakeBack(
  { paths, env, err }: Context,
  bundle: string,
  more: Pick<StartSurroundings, "home" | "names" | "mayHalt">,
): Promise<Started> {
  try {
    const daemon = await startDaemon(bundle, { paths, env, ...more, progress: (text) => err(text) });
    // The daemon that started first has other options than the proposed ones.
    const found = findDaemon(paths);
    if (!daemon.ours && found.daemon === "running") rememberLaunch(paths, found.file.options, null);
    keepLaunch(paths.launchFile);
    return daemon;
  } catch (error) {
    // After any other error it may still become ready.
    if (error instanceof HoldfastError && error.code === "launch-failed") takeBackLaunch(paths.launchFile);
    throw error;
  }
}

/** The automatic start by any command: with the options of the last start, and quiet unless there are notes. */
export async function startAgain(context: Context, { mayHalt = false } = {}): Promise<void> {
  const outcome = await start(context, { options: optionsToReplay(context), mayHalt });
  if (outcome.start !== "started") return;
  if (context.isTerminal(2)) context.err(`Holdfast was not running; started it at ${outcome.url}.`);
  for (const note of outcome.notes) context.err(note);
}

export type StopOutcome =
  | { stop: "not-running" }
  /** `answer` is null if the daemon did not respond. */
  | { stop: "stopped"; answer: Output<"daemonStop"> | null; ended: Ended }
  /** Some sessions could not be halted, so the daemon stays to keep stopping them. */
  | { stop: "still-halting"; answer: Output<"daemonStop"> };

export async function stop(context: Context, { haltSessions = false } = {}): Promise<StopOutcome> {
  const found = await findSettledDaemon(context.paths);
  if (found.daemon === "none") return { stop: "not-running" };
  const print = (text: string): void => context.err(text);
  if (found.daemon === "starting") {
    return { stop: "stopped", answer: null, ended: await endDaemon(found.identity, { asked: false, print }) };
  }
  const { file } = found;
  const answer = (await hasPulse(file.socket, askDeadlineMs)) ? await askToStop(context, haltSessions) : null;
  if (answer === null && haltSessions) {
    throw new HoldfastError("unreachable", `The daemon (pid ${file.pid}) is not responding; nothing was stopped.`, {
      hint: "Replace it (holdfast restart), then try again.",
    });
  }
  if (answer !== null && answer.remaining.length > 0) return { stop: "still-halting", answer };
  if (answer === null) print(`The daemon (pid ${file.pid}) is not responding; stopping its process.`);
  return { stop: "stopped", answer, ended: await endDaemon(file, { asked: answer !== null, print }) };
}

async function askToStop(context: Context, haltSessions: boolean): Promise<Output<"daemonStop"> | null> {
  try {
    return await clientOf({ ...context, mayStart: false }).call("daemonStop", { body: { haltSessions } });
  } catch (error) {
    // It exited between the ping and the request, or its response is invalid: its process decides.
    if (error instanceof HoldfastError && error.code === "unreachable") return null;
    throw error;
  }
}

/** Everything that could fail is done while the old daemon still runs: checking the passphrase, installing the build. */
export async function restart(context: Context): Promise<StartOutcome> {
  const { paths, env } = context;
  const found = findDaemon(paths);
  if (found.daemon !== "running") return start(context, { options: optionsToReplay(context) });
  const { file } = found;
  if (file.managedBy !== null) throw managedElsewhere(context, file);
  const options = optionsToReplay(context);
  assertTls(options);
  const given = usedPassphrase(options, { file: undefined, env, paths });
  const mark = given === null ? null : admitPassphrase(paths, given);
  const passphrase = given ?? storedPassphrase(paths);
  writeHome(paths, () => {
    prepareHome(paths);
    return installBuild(paths, context.dist);
  });
  await stop(context);
  if (passphrase !== null) rememberLaunch(paths, options, passphrase);
  rememberMark(paths, mark);
  const outcome = await start(context, { options: onSamePort(options, file.url) });
  rememberLaunch(paths, options, null);
  keepLaunch(paths.launchFile);
  return outcome;
}

/** Reuses a port that was picked freely, if it is still free, so that open dashboards reconnect. */
function onSamePort(options: LaunchOptions, url: string): LaunchOptions {
  const port = Number(/:(\d+)$/.exec(url)?.[1] ?? 0);
  return options.portGiven && options.port !== 0 ? options : { ...options, port, portGiven: false };
}

export function managedElsewhere(context: Context, file: DaemonFile): HoldfastError {
  const name = serviceName(context);
  const [who, how] =
    file.managedBy === "systemd"
      ? ["is managed by systemd", `Restart it there, for example: systemctl --user restart ${name}`]
      : file.managedBy === "launchd"
        ? ["is managed by launchd", `Restart it there, for example: launchctl kickstart -k gui/$(id -u)/${name}`]
        : ["runs in the foreground", "Stop it in the terminal that runs it, then start it again there."];
  return new HoldfastError("conflict", `The daemon (pid ${file.pid}) ${who}; not restarted.`, { hint: how });
}
