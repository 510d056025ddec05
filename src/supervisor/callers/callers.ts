/** Identifies the caller of every request as the user or an agent [AUTHORIZE-1]: gathers the facts that identify-caller.ts judges. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { readLineage, tcpClient } from "../../base/lineage.ts";
import { peerLookUp } from "../../base/peer.ts";
import { whyNotStarted } from "../../base/run.ts";
import { callerOf, currentLaunch, peerOf, type Launches } from "./identify-caller.ts";
import { isShell } from "../../model/roles.ts";
import type { Callers } from "../../ports/api.ts";
import type { Peer, AgentLaunch } from "../../contract/caller.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { asSessionId, asLaunchId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import type { Store } from "../../ports/store.ts";

/** The setting that contains the secret of all capabilities, so that they survive the daemon without being stored. */
const keptSecret = "agents.capability-secret";
const secretBytes = 32;
/** The log hides text with this prefix (base/log-file.ts). */
const prefix = "hfc_";

export type Capabilities = ReturnType<typeof openCapabilities>;

export function openCapabilities(store: Pick<Store, "getSetting" | "putSetting" | "session">) {
  let making: Promise<string> | undefined;
  const make = async (): Promise<string> => {
    const made = randomBytes(secretBytes).toString("base64url");
    await store.putSetting(keptSecret, made);
    return made;
  };
  return {
    of: async (launch: AgentLaunch): Promise<string> => {
      const secret = store.getSetting(keptSecret) ?? (await (making ??= make().finally(() => (making = undefined))));
      return `${prefix}${launch.session}.${launch.launch}.${sign(secret, launch)}`;
    },
    /** The launch that it proves; null if it is not ours, or that launch has ended. */
    read: (text: string): AgentLaunch | null => {
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
  return createHmac("sha256", secret).update(`${session}.${launch}`).digest("base64url");
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function openCallers(
  services: Pick<Services, "store" | "agents" | "home" | "worktrees">,
  capabilities: Capabilities,
  cgroup: string,
): Callers {
  const { store } = services;
  const launches = (): Launches => ({
    home: services.home,
    cgroup,
    worktrees: services.worktrees,
    sessions: store.sessions(),
    isShell: (id) => {
      const session = store.session(asSessionId(id));
      return session !== null && isShellSession(services, session);
    },
  });
  /** Unknown rather than the user's if the lookup fails: an agent could use up the descriptors first. */
  const looked = (look: () => Peer): Peer => {
    try {
      return look();
    } catch (error) {
      return { is: "gone", why: whyNotStarted(error) };
    }
  };
  const peerWith = (pid: number): Peer => {
    const lineage = pid > 0 ? readLineage(pid, process.pid) : null;
    return lineage === null ? { is: "gone" } : peerOf(lineage, launches());
  };
  /** A connection may outlive the launch that opened it. */
  const now = (peer: Peer): Peer => {
    if (peer.is !== "agent") return peer;
    const session = store.session(peer.session);
    return session !== null && currentLaunch(session) === peer.launch ? peer : { is: "ended", session: peer.session };
  };
  return {
    peer: (connection) => {
      const look = peerLookUp();
      return look.is === "none" ? { is: "unknown" } : looked(() => peerWith(look.pidOf(connection as Socket)));
    },
    tcpPeer: (clientPort, ourPort) => {
      if (process.platform !== "linux") return { is: "unknown" };
      // Without agents there is no caller to restrict.
      if (!store.sessions().some((one) => currentLaunch(one) !== null && !isShellSession(services, one))) {
        return { is: "person" };
      }
      const client = tcpClient(clientPort, ourPort);
      if (client.is !== "found") return { is: client.is === "gone" ? "gone" : "person" };
      return peerWith(client.pid);
    },
    actor: (peer, claims) => {
      const held = claims.capability === null ? null : capabilities.read(claims.capability);
      const caller = callerOf(now(peer), claims, held);
      if (caller.may) return caller.actor;
      throw new HoldfastError("forbidden", caller.message, { hint: caller.hint });
    },
  };
}

export function isShellSession(services: Pick<Services, "agents">, session: SessionState): boolean {
  return isShell(session, startOf(services, session));
}

/** The command of a session's agent in its terminal; null for a chat. */
export function startOf(
  { agents }: Pick<Services, "agents">,
  session: Pick<SessionState, "project" | "agent" | "kind">,
): readonly string[] | null {
  return session.kind === "terminal" ? (agents.of(session)?.terminal?.start ?? null) : null;
}
