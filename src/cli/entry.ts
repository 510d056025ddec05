/**
 * First file that runs, on whatever Node is there: only syntax that old ones parse, and nothing imported before the check
 * but what is as plain.
 * The bundle's directory is this file's own; chunks may lie elsewhere.
 */
import { cacheHome } from "../base/cache-home.ts";

const oldest = [24, 15];
const parts = process.versions.node.split(".").map(Number);
const major = parts[0] || 0;
const minor = parts[1] || 0;

if (major < oldest[0]! || (major === oldest[0] && minor < oldest[1]!)) {
  process.stderr.write(
    "Holdfast needs Node " +
      oldest.join(".") +
      " or newer; this is " +
      process.versions.node +
      ".\nInstall it with its optional packages (npm ci), which bring a Node of their own, or install a newer Node.\n",
  );
  process.exitCode = 1;
} else {
  cacheCompiledCode();
  import("./main.ts").then(
    function (module) {
      return module.main(import.meta.dirname);
    },
    function (error: unknown) {
      // A chunk is missing: the package was changed under the running command.
      process.stderr.write(String(error) + "\nInstall or build Holdfast again.\n");
      process.exitCode = 1;
    },
  );
}

/** Saves 2 ms of a command, 4 where commander is loaded. Only in a home that exists: making one is `start`'s business. */
function cacheCompiledCode(): void {
  const home = cacheHome(process.env);
  if (home !== null && process.getBuiltinModule("node:fs").existsSync(home)) {
    process.getBuiltinModule("node:module").enableCompileCache(home + "/cache");
  }
}
