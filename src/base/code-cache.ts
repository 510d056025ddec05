/**
 * Compiled code, kept in the home for the next run of the same build, for the entry files of both programs. In syntax
 * that an old Node parses.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Module, createRequire, enableCompileCache } from "node:module";
import { basename, dirname } from "node:path";
import { constants, Script } from "node:vm";

/** After this long, a daemon has answered its first requests, and V8 has not yet dropped what only a start uses. */
const startMs = 2_000;

interface Compiles {
  _compile: (this: NodeModule, content: string, filename: string) => unknown;
}

/** From the environment alone, because the cache must be on before anything is loaded. Consistent with `resolvePaths`. */
export function cacheHome(env: NodeJS.ProcessEnv): string | null {
  const own = env["HOLDFAST_HOME"];
  if (own) return own;
  const state = env["XDG_STATE_HOME"];
  if (state && state.charAt(0) === "/") return state + "/holdfast";
  return env["HOME"] ? env["HOME"] + "/.local/state/holdfast" : null;
}

/**
 * Before the program's main file is loaded. Node's own cache, used for all other files, lacks the functions that V8
 * compiles when they are first called: without them, a daemon's start takes a fifth longer (bench/daemon.ts).
 */
export function cacheCompiledCode(home: string): void {
  const directory = home + "/cache";
  enableCompileCache(directory);
  const prototype = Module.prototype as unknown as Compiles;
  const compile = prototype._compile;
  prototype._compile = function (content, filename) {
    prototype._compile = compile;
    const run = compileMain(directory, content, filename);
    return run.call(this.exports, this.exports, createRequire(filename), this, filename, dirname(filename));
  };
}

type Run = (exports: unknown, require: NodeJS.Require, module: NodeModule, file: string, directory: string) => unknown;

function compileMain(directory: string, content: string, filename: string): Run {
  const stamp = Math.floor(statSync(filename).mtimeMs).toString(36);
  const path = directory + "/" + basename(filename) + "-" + stamp + "-" + process.version + ".code";
  const cachedData = readCode(path);
  const script = new Script("(function(exports,require,module,__filename,__dirname){" + content + "\n})", {
    filename: filename,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === null ? {} : { cachedData: cachedData }),
  });
  if (cachedData === null || script.cachedDataRejected === true) {
    const timer = setTimeout(save, startMs).unref();
    process.once("exit", save);
    function save(): void {
      clearTimeout(timer);
      process.off("exit", save);
      writeCode(path, script.createCachedData());
    }
  }
  return script.runInThisContext() as Run;
}

/** The file contains the code twice: V8 does not verify it, and comparing is quicker than loading a checksum. */
function readCode(path: string): Buffer | null {
  return attempt(() => {
    const bytes = readFileSync(path);
    const code = bytes.subarray(0, bytes.length / 2);
    return code.equals(bytes.subarray(bytes.length / 2)) ? code : null;
  });
}

/** On a full disk nothing is left, and the next run compiles it again. */
function writeCode(path: string, code: Buffer): void {
  const temporary = path + "." + process.pid;
  const written = attempt(() => {
    writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flush: true });
    renameSync(temporary, path);
    return true;
  });
  if (!written) attempt(() => rmSync(temporary, { force: true }));
}

/** Not the one of attempt.ts: the main file needs that one, and would load this file for it. */
function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
