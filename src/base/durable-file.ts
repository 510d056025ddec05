/** Files that are whole or not there: temporary file, fsync, rename, fsync of the directory. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join, basename } from "node:path";

export function writeDurable(path: string, text: string, mode = 0o600): void {
  const directory = dirname(path);
  // Loaded here because most commands only read: node:crypto costs 6 ms.
  const unique = process.getBuiltinModule("node:crypto").randomBytes(6).toString("hex");
  const temporary = join(directory, `.${basename(path)}.${unique}.tmp`);
  const file = openSync(temporary, "wx", mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } catch (error) {
    closeSync(file);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(file);
  renameSync(temporary, path);
  syncDirectory(directory);
}

export function syncDirectory(directory: string): void {
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** The parsed JSON of a file; `absent` when there is none, `damaged` when it does not parse. */
export function readJson(
  path: string,
): { is: "known"; value: unknown } | { is: "absent" } | { is: "damaged"; why: string } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { is: "absent" };
    return { is: "damaged", why: (error as Error).message };
  }
  try {
    return { is: "known", value: JSON.parse(text) };
  } catch (error) {
    return { is: "damaged", why: (error as Error).message };
  }
}
