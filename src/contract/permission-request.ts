/**
 * Names of permission requests. A user types and pastes them and shells complete them, so they are ours: an agent's own
 * JSON-RPC id is stored too, for the answer alone.
 */
import type { LaunchId } from "./ids.ts";

/** A JSON-RPC id as we accept one from an agent. */
export type AgentRequestId = string | number;

/** Who asked: the answer goes to this launch, under this id. */
export interface Asker {
  launch: LaunchId;
  id: AgentRequestId;
}

const maxAgentId = 1024;
const ownId = /^[a-z0-9-]{1,32}$/;

/** The request's name, from the sequence number of its event: no other request ever gets it. */
export function newRequestName(seq: number): string {
  return `q${seq}`;
}

/** The name to show for a request id. Earlier builds used the agent's own id; theirs get a derived one. */
export function requestName(requestId: string): string {
  return ownId.test(requestId) ? requestId : `q-${hash(requestId)}`;
}

export function isAgentRequestId(id: unknown): id is AgentRequestId {
  return typeof id === "string" ? id.length <= maxAgentId : typeof id === "number" && Number.isFinite(id);
}

/** The agent's own id of an open request of this launch; undefined if it belongs to another one. */
export function agentIdOf(
  launch: LaunchId,
  { requestId, asker }: { requestId: string; asker?: Asker | undefined },
): AgentRequestId | undefined {
  if (asker !== undefined) return asker.launch === launch ? asker.id : undefined;
  if (!requestId.startsWith(`${launch}:`)) return undefined;
  try {
    const id: unknown = JSON.parse(requestId.slice(launch.length + 1));
    return isAgentRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** The open requests of a name: normally one, none once it was answered. */
export function requestsNamed<T extends { requestId: string }>(open: readonly T[], name: string): T[] {
  return open.filter(({ requestId }) => requestId === name || requestName(requestId) === name);
}

/** FNV-1a: only to be short; colliding names are both refused. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
