/** Fails where a package for this platform is missing: one that is optional and could not be fetched npm leaves out in silence. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Platform = string | string[];

interface Locked {
  optional?: boolean;
  os?: Platform;
  cpu?: Platform;
  libc?: Platform;
  optionalDependencies?: Record<string, string>;
}

const root = join(import.meta.dirname, "..");
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
const ours = Object.keys(lock.packages[""]?.optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const libc = header.glibcVersionRuntime === undefined ? "musl" : "glibc";
const missing = Object.entries(lock.packages).flatMap(([path, locked]) => {
  // Other optional ones belong to packages for other platforms.
  const wanted = locked.optional !== true || locked.os !== undefined || ours.includes(path);
  return wanted && isForHere(locked) && !existsSync(join(root, path, "package.json")) ? [path] : [];
});
if (missing.length > 0) console.error(`not installed: ${missing.join(", ")}`);
process.exitCode = missing.length > 0 ? 1 : 0;

function isForHere(locked: Locked): boolean {
  const fits = (wanted: Platform | undefined, here: string): boolean =>
    wanted === undefined || [wanted].flat().includes(here);
  return fits(locked.os, process.platform) && fits(locked.cpu, process.arch) && fits(locked.libc, libc);
}
