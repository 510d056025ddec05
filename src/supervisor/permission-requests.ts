/** Open permission requests: the tool call as the agent described it until it asked. */
import type { Store } from "../ports/store.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { SessionId } from "../contract/ids.ts";
import { requestName, requestsNamed } from "../contract/permission-request.ts";
import { shorten } from "../model/text.ts";
import type { PermissionRequest, SessionState } from "../model/session.ts";
import { callDetails, mergeCall, type CallDetails, type ToolCallFields } from "../model/tool-call.ts";
import type { PermissionRequestJson } from "../contract/permission.ts";
import type { SessionJson } from "../contract/session.ts";

/** A call's updates are near its request; one that is mentioned earlier than this counts as not described. */
const searchedEvents = 500;
const searchedChars = 16 * 1024 * 1024;
/** In the list of sessions, which every open page gets; `GET …/acp/questions` returns all of it. */
const listedChars = 16_000;
const listedPaths = 50;

type Reads = Pick<Store, "someEvents">;

export function callBefore(store: Reads, session: SessionId, toolCallId: string, before: number): ToolCallFields {
  const wanted = { before, limit: searchedEvents, chars: searchedChars, newest: true };
  const updates = store.someEvents(session, { ...wanted, types: ["tool.updated"] });
  return updates.reduce<ToolCallFields>(
    (call, event) => (event.type === "tool.updated" && event.toolCallId === toolCallId ? mergeCall(call, event) : call),
    {},
  );
}

/** By the stored request, which stays the same object while it is open. */
const known = new WeakMap<PermissionRequest, CallDetails>();

export function detailsOf(store: Reads, session: SessionState, open: PermissionRequest): CallDetails {
  const before = known.get(open);
  if (before !== undefined) return before;
  const { toolCallId, seq = session.seq + 1, title } = open;
  const call = toolCallId === undefined ? {} : callBefore(store, session.id, toolCallId, seq);
  const details = callDetails({ title, ...call });
  known.set(open, details);
  return details;
}

export function permissionRequestJson(
  store: Reads,
  session: SessionState,
  open: PermissionRequest,
): PermissionRequestJson {
  return {
    id: requestName(open.requestId),
    ...detailsOf(store, session, open),
    title: open.title,
    options: open.options,
  };
}

/** Enough for an answer; `more` if it is not complete. */
export function listedRequests(store: Reads, session: SessionState): SessionJson["permissions"] {
  return session.permissions.map((open) => {
    const { requestId, title, options } = open;
    const { kind, command, cwd, paths, diffs, words, input } = detailsOf(store, session, open);
    const isCut = (command?.length ?? 0) > listedChars || paths.length > listedPaths;
    return {
      requestId: requestName(requestId),
      title,
      options,
      kind,
      command: command === null ? null : shorten(command, listedChars),
      cwd,
      paths: paths.slice(0, listedPaths),
      more: isCut || diffs.length > 0 || words !== "" || input !== null,
    };
  });
}

/** The permission request of this name. Without a name only one may be open: which of several the user read is unknown. */
export function findPermissionRequest(session: SessionState, name: string | undefined): PermissionRequest | null {
  const open = name === undefined ? session.permissions : requestsNamed(session.permissions, name);
  if (open.length <= 1) return open[0] ?? null;
  throw new HoldfastError("conflict", `${session.id} has ${open.length} open permission requests.`, {
    hint: `Name the one you answer: ${open.map(({ requestId }) => requestName(requestId)).join(", ")}. Show them: holdfast acp questions ${session.id}`,
  });
}
