/** Ends a daemon by its identity, in stages. What its sessions do is decided elsewhere: this never touches them. */
import { type Identity, isAlive, signalIdentity } from "../../../base/pid.ts";

export type Ended = "gone" | "terminated" | "killed";

/** A stop takes under a second; a daemon on a busy machine gets time before it is ended by force. */
const politeMs = 10_000;
const pollMs = 10;

export interface EndOptions {
  /** It has been told over its socket and only needs waiting for. */
  asked: boolean;
  say: (text: string) => void;
  waitMs?: number;
}

export async function endDaemon(identity: Identity, { asked, say, waitMs = politeMs }: EndOptions): Promise<Ended> {
  if (await isGone(identity, asked ? waitMs : 0)) return "gone";
  if (!signalIdentity(identity, "SIGTERM")) return "gone";
  if (await isGone(identity, waitMs)) return "terminated";
  say(`The daemon (pid ${identity.pid}) did not end within ${waitMs / 1000} s of SIGTERM; ending it by force.`);
  signalIdentity(identity, "SIGKILL");
  await isGone(identity, politeMs);
  return "killed";
}

export async function isGone(identity: Identity, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
  return true;
}
