/**
 * The capability of a launch: proof for its agent that it is this session's, and nobody else. Made from a secret of the
 * home, so that it survives every end of the daemon without being written down; void as soon as the launch is not the
 * session's current one.
 */
import { crypto } from "../base/digest.ts";
import { currentLaunch } from "./identify-caller.ts";
import type { Store } from "../ports/store.ts";
import type { AgentLaunch } from "../contract/caller.ts";
import { asLaunchId, asSessionId } from "../contract/ids.ts";

/** The setting that holds the secret. */
const keptSecret = "agents.capability-secret";
const secretBytes = 32;
/** The log leaves out whatever begins so (base/log-file.ts). */
const prefix = "hfc_";

export interface Capabilities {
  of(launch: AgentLaunch): Promise<string>;
  /** The launch that it is for; null where it is not ours, or that launch is over. */
  read(text: string): AgentLaunch | null;
}

export function openCapabilities(store: Pick<Store, "getSetting" | "putSetting" | "session">): Capabilities {
  let making: Promise<string> | undefined;
  const make = async (): Promise<string> => {
    const made = crypto().randomBytes(secretBytes).toString("base64url");
    await store.putSetting(keptSecret, made);
    return made;
  };
  return {
    of: async (launch) => {
      const secret = store.getSetting(keptSecret) ?? (await (making ??= make().finally(() => (making = undefined))));
      return `${prefix}${launch.session}.${launch.launch}.${sign(secret, launch)}`;
    },
    read: (text) => {
      const [session = "", launch = "", proof = ""] = text.slice(prefix.length).split(".");
      const named = { session: asSessionId(session), launch: asLaunchId(launch) };
      const secret = store.getSetting(keptSecret);
      if (secret === null || !text.startsWith(prefix) || !isSame(proof, sign(secret, named))) return null;
      const state = store.session(named.session);
      return state !== null && currentLaunch(state) === named.launch ? named : null;
    },
  };
}

function sign(secret: string, { session, launch }: AgentLaunch): string {
  return crypto().createHmac("sha256", secret).update(`${session}.${launch}`).digest("base64url");
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && crypto().timingSafeEqual(a, b);
}
