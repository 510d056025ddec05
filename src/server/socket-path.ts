/**
 * Makes the unix socket's path free to bind, or says why it is not. Only a socket that refuses connections is ours to
 * remove: its listener is gone. Whoever answers, hangs or is something else is left alone. Called under the lock.
 */
import { lstatSync, statSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { maxSocketBytes } from "../base/paths.ts";
import { HoldfastError } from "../contract/error.ts";
import { quoteShellWord } from "../model/text.ts";

const probeMs = 1_000;

export async function claimSocketPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > maxSocketBytes) {
    throw new HoldfastError("usage", `The socket path is longer than ${maxSocketBytes} bytes: ${path}`, {
      hint: "Set HOLDFAST_HOME to a shorter directory.",
    });
  }
  checkDirectory(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new HoldfastError("conflict", `${path} is not a socket; it was left alone.`, {
      hint: "Move it away: this is where the daemon's socket belongs.",
    });
  }
  const answer = await probe(path);
  if (answer === "connected") {
    throw new HoldfastError("conflict", `Another program answers on ${path}; it was left alone.`, {
      hint: "End it, or set HOLDFAST_HOME to another directory.",
    });
  }
  if (answer === "ECONNREFUSED") unlinkSync(path);
  else if (answer !== "ENOENT") {
    throw new HoldfastError("conflict", `It cannot be told who uses ${path} (${answer}); it was left alone.`, {
      hint: "End the program that made it, or set HOLDFAST_HOME to another directory.",
    });
  }
}

/** The socket needs no token because of this directory: in one that others may enter, it would be open to them. */
function checkDirectory(directory: string): void {
  const found = statSync(directory);
  if (found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new HoldfastError("conflict", `${directory} must belong to you alone (mode 0700) to hold the socket.`, {
      hint: `chmod 700 ${quoteShellWord(directory)}`,
    });
  }
}

function probe(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answer: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish("no answer"), probeMs);
    socket.once("connect", () => finish("connected"));
    socket.once("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}
