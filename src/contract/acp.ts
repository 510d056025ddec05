/**
 * How we speak to a chat agent: the ids and lines of JSON-RPC. Ids are strings that name launch and purpose, so an answer
 * to a request of an earlier daemon is recognised without any memory.
 */
import type { LaunchId, PromptId } from "./ids.ts";
import { asPromptId } from "./ids.ts";
import type { AgentRequestId } from "./permission-request.ts";

/** What of an agent's output is replayed history and not shown: until the load is answered, or until the agent's last word after that. */
export type ReplayFilter = "answer" | "commands" | null;

/** JSON-RPC and ACP codes that mean something to us. */
export const methodNotFound = -32_601;
export const invalidParams = -32_602;
export const authRequired = -32_000;

export function requestLine(launch: LaunchId, key: string, method: string, params: unknown): string {
  return line({ id: `${prefixOf(launch)}${key}`, method, params });
}

export function notificationLine(method: string, params: unknown): string {
  return line({ method, params });
}

export function resultLine(id: AgentRequestId, result: unknown): string {
  return line({ id, result });
}

export function errorLine(id: AgentRequestId, code: number, message: string): string {
  return line({ id, error: { code, message } });
}

/** The key of one of our requests in a response's id; null if it does not belong to this launch. */
export function keyOf(launch: LaunchId, id: unknown): string | null {
  const prefix = prefixOf(launch);
  return typeof id === "string" && id.startsWith(prefix) ? id.slice(prefix.length) : null;
}

export function promptKey(promptId: PromptId): string {
  return `p:${promptId}`;
}

export function promptOf(key: string): PromptId | null {
  return key.startsWith("p:") ? asPromptId(key.slice(2)) : null;
}

/** The key of our answer to one of the agent's requests. With its place in `in`: an agent may use an answered id again. */
export function answerKey(agentRequestId: AgentRequestId, place: number): string {
  return `a:${JSON.stringify(agentRequestId)}:${place}`;
}

export type AgentSetting = { set: "mode" | "model"; value: string } | { set: "config"; id: string; value: string };

/** Encodes the requested setting in the request's id, so that the response alone shows the new value. */
export function settingKey(pick: AgentSetting, by: string, nonce: string): string {
  const words = pick.set === "config" ? [pick.id, pick.value] : [pick.value];
  return ["set", pick.set, ...[...words, by, nonce].map(encodeURIComponent)].join(":");
}

export function settingOf(key: string): { pick: AgentSetting; by: string } | null {
  const [set, what, ...encoded] = key.split(":");
  if (set !== "set") return null;
  const words = encoded.map(decodeURIComponent);
  if (what === "config") {
    const [id = "", value = "", by = ""] = words;
    return { pick: { set: "config", id, value }, by };
  }
  const [value = "", by = ""] = words;
  return what === "mode" || what === "model" ? { pick: { set: what, value }, by } : null;
}

function prefixOf(launch: LaunchId): string {
  return `hf:${launch}:`;
}

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}

/** Actor of a choice that a configuration file made: it is not kept as the user's own. */
export const configurationActor = "configuration";
