/**
 * Runs first, on any Node: uses only syntax that old versions parse, and imports nothing else before the version check.
 * Passes on the bundle's directory, which is this file's own; chunks may be elsewhere.
 */
import { existsSync } from "node:fs";
import { cacheCompiledCode, cacheHome } from "../base/code-cache.ts";

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
      ".\nReinstall with optional packages (npm ci), which include a suitable Node, or install a newer Node.\n",
  );
  process.exitCode = 1;
} else {
  const home = cacheHome(process.env);
  // Only in an existing home: `start` creates it.
  if (home !== null && existsSync(home)) cacheCompiledCode(home);
  import("./main.ts").then(
    function (module) {
      return module.main(import.meta.dirname);
    },
    function (error: unknown) {
      // A chunk is missing: the package was changed while the command started.
      process.stderr.write(String(error) + "\nReinstall or rebuild Holdfast.\n");
      process.exitCode = 1;
    },
  );
}
