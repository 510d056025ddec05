/** What a command runs in: where it is, where its output goes, and the daemon, found or started when it is first asked. */
import { resolvePaths, type Paths } from "../base/paths.ts";
import type { Client } from "../client/client.ts";
import { clientOf } from "./system/daemon/connection.ts";
import { jsonText } from "./render/json.ts";
import { makePaint, type Paint, wantsColours } from "./render/paint.ts";
import type { StandardIo, TerminalSize } from "./standard-io.ts";

export interface Context {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Directory of the running bundle. */
  dist: string;
  paths: Paths;
  paint: Paint;
  out: (text: string) => void;
  /** To stdout as it is, without a line end. */
  write: (text: string) => void;
  err: (text: string) => void;
  isTerminal: (descriptor: 0 | 1 | 2) => boolean;
  /** Of the terminal that stdout is; null in pipes and files. */
  terminalSize: () => TerminalSize | null;
  now: () => number;
  /** Prints a value as JSON: the only thing on stdout then. */
  json: (value: unknown) => void;
  /** Whether this command may start the daemon. */
  mayStart: boolean;
  /** Whether `--no-start` was given: what a hint may name. */
  noStart?: boolean;
  call: Client["call"];
}

export interface ContextOptions {
  env: NodeJS.ProcessEnv;
  cwd: string;
  dist: string;
  io: StandardIo;
  now?: () => number;
}

export function createContext({ env, cwd, dist, io, now = Date.now }: ContextOptions): Context {
  let paint: Paint | undefined;
  const paths = resolvePaths(env);
  const own = env["HOLDFAST_HOME"] ?? "";
  const context: Context = {
    // A relative home means something else to the daemon, which stands in it.
    env: own === "" || own === paths.home ? env : { ...env, HOLDFAST_HOME: paths.home },
    cwd,
    dist,
    paths,
    get paint() {
      return (paint ??= makePaint(wantsColours(env, io.isTerminal(1))));
    },
    out: (text) => io.out(text),
    write: (text) => io.write(text),
    err: (text) => io.err(text),
    isTerminal: (descriptor) => io.isTerminal(descriptor),
    terminalSize: () => io.size(),
    now,
    json: (value) => io.out(jsonText(value, 2)),
    mayStart: false,
    call: (route, options) => clientOf(context).call(route, options),
  };
  return context;
}
