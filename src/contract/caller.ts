/** Who calls the daemon: the user, or an agent that Holdfast launched. */
import type { LaunchId, SessionId } from "./ids.ts";

/** In the environment of a launch: its capability, and the socket on which no caller counts as the user. */
export const capabilityVariable = "HOLDFAST_CAPABILITY";
export const socketVariable = "HOLDFAST_SOCKET";
/** Carries the capability in a request. */
export const capabilityHeader = "holdfast-capability";
/** Names the session for which a request is made. Believed only where it narrows what the caller may do. */
export const actorHeader = "holdfast-actor";
/** The caller's own id for a spawn, to ask about it while it is pending. A header, so that older daemons ignore it. */
export const requestHeader = "holdfast-request";

/** One launch of a session's agent. */
export interface AgentLaunch {
  session: SessionId;
  launch: LaunchId;
}

/** The process at the other end of a connection. */
export type Peer =
  /** Outside of every launch, or inside a shell. */
  | { is: "person" }
  | ({ is: "agent" } & AgentLaunch)
  /** Inside a launch that is over. */
  | { is: "ended"; session: string }
  /** Started by a postCreate command. */
  | { is: "setup" }
  /** It exited before it could be inspected, or it is not visible from here. */
  | { is: "gone"; why?: string }
  /** This system cannot identify processes behind sockets. */
  | { is: "unknown" };

/** How a request arrived, and what its headers claim. */
export interface Claims {
  /** On `agents` no caller counts as the user. */
  listener: "main" | "agents" | "tcp";
  capability: string | null;
  /** A session's id. */
  session: string | null;
}
