/** Runs a verb of the user: records the intent, lets the loop act, and responds with the result. */
import type { Verb } from "../model/lifecycle.ts";
import { isLive } from "../model/runs.ts";
import type { ApiRequest } from "../ports/api.ts";
import { verbs } from "../model/verbs.ts";
import type { SessionState } from "../model/session.ts";
import type { VerbRequest } from "../contract/operation.ts";
import type { PlainVerb, VerbResponse } from "../contract/session.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import { runtimeFacts } from "../supervisor/observe.ts";
import { forgetConversation, noteConversationStays } from "../supervisor/execute/conversation.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { sessionJson, type ViewServices } from "../supervisor/view.ts";
import { findSession } from "./find.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";

/** After this the response lists what remains; the daemon keeps stopping it. */
const endDeadlineMs = Number(process.env["HOLDFAST_TEST_END_MS"] ?? 10_000);

export type VerbServices = ViewServices &
  Pick<Services, "agents" | "agentsSocket" | "capabilities" | "home" | "programs">;

type RunVerb = PlainVerb | "snooze";

export async function runVerb(
  services: VerbServices,
  loop: Loop,
  verb: Verb & { verb: RunVerb },
  request: Pick<ApiRequest<RunVerb>, "params" | "actor" | "signal"> & { input: VerbRequest },
): Promise<VerbResponse> {
  const { verb: name } = verb;
  const session = findSession(services, request);
  const state = await commitVerb(services, loop, session, verb, request.actor);
  // Holdfast removes no transcript of a terminal agent: it has no command for that.
  if (name === "delete" && session.kind === "terminal") await noteConversationStays(services, session);
  // Nothing of it runs, so the loop has no agent to request.
  if (name === "delete" && session.kind === "chat" && !isLive(session.run)) {
    await forgetConversation(services, session, "not-running");
  }
  loop.asked(session.id);
  const { endsWith } = verbs[name];
  if (endsWith === null) return { session: sessionJson(services, loop, state), remaining: [], done: true, notes: [] };
  const wait = request.input.wait !== false;
  if (endsWith === "up") {
    const json = wait ? await waitUntilUp(services, loop, state, request.signal) : sessionJson(services, loop, state);
    return { session: json, remaining: [], done: wait, notes: noticesSince(services, session) };
  }
  const isOver = (): boolean => isDown(services, loop, session, name) || isHeld(loop, session);
  if (wait) await loop.waitFor(session.id, isOver, endDeadlineMs, request.signal);
  const latest = services.store.session(session.id) ?? state;
  const json = sessionJson(services, loop, latest);
  const down = isDown(services, loop, session, name);
  if (!down) return { session: json, done: false, ...whatRemains(loop, latest, json) };
  return {
    session: json,
    remaining: [],
    done: true,
    notes: [
      ...(name === "kill" || name === "delete" ? keptWork(services, session, name) : []),
      ...(name === "delete" ? noticesSince(services, session) : []),
    ],
  };
}

/** Why a session is not down yet, for the user; the daemon continues. */
export function whatRemains(
  loop: Loop,
  session: SessionState,
  json: VerbResponse["session"],
): Pick<VerbResponse, "remaining" | "notes"> {
  const { run, workspace } = session;
  const seen = runtimeFacts(loop.observation(session));
  const recorded = run.run === "up" && run.agent !== null ? [{ pid: run.agent.pid, what: "agent" }] : [];
  const listed = json.processes.map(({ pid, what }) => ({ pid, what }));
  const error = loop.lastError(session.id);
  return {
    remaining: listed.length > 0 ? listed : recorded,
    notes: [
      ...(seen.is === "unknown" ? [`It could not be observed: ${seen.why}`] : []),
      ...(workspace.at === "ready" && (run.run === "ended" || run.run === "failed" || run.run === "none")
        ? [`Its worktree is still at ${session.workspacePath}`]
        : []),
      ...(workspace.at === "planned" ? [`Its worktree is still being created at ${session.workspacePath}`] : []),
      ...(error === null ? [] : [error.message]),
      "The daemon continues.",
    ],
  };
}

/** Failed twice, a second apart: the user learns why immediately, and the daemon keeps trying. */
function isHeld(loop: Loop, { id }: SessionState): boolean {
  const error = loop.lastError(id);
  return error !== null && error.isConflict && error.count > 1;
}

function isDown(services: VerbServices, loop: Loop, { id }: SessionState, verb: RunVerb): boolean {
  const state = services.store.session(id);
  if (state === null) return true;
  // A recorded end does not mean that the processes the agent left behind have ended.
  if (isLive(state.run) || runtimeFacts(loop.observation(state)).is !== "absent") return false;
  const { at } = state.workspace;
  if (verb === "kill" || verb === "delete") return at !== "ready" && at !== "planned";
  // The creation of the worktree is cancelled as well.
  return at !== "planned" || !loop.isBusy(id);
}

/** Where uncommitted or unpushed work went, and how to get it back. */
function keptWork(services: VerbServices, before: SessionState, verb: RunVerb): string[] {
  const trashed = lastEvent(services.store, before.id, { after: before.seq, types: ["workspace.trashed"] });
  if (trashed?.type !== "workspace.trashed") return [];
  const { uncommitted, unpushed, commits = [], note } = trashed;
  if (uncommitted + unpushed === 0 && note === undefined) return [];
  const count = (number: number, what: string): string[] =>
    number === 0 ? [] : [`${number} ${what}${number === 1 ? "" : "s"}`];
  const work = [...count(uncommitted, "uncommitted file"), ...count(unpushed, "unpushed commit")].join(" and ");
  const more = unpushed - commits.length;
  return [
    ...(note === undefined ? [] : [note]),
    `${work === "" ? "All of it is" : work} kept in the trash as ${trashed.trash}${trashed.ref === null ? "" : ` (${trashed.ref})`}.`,
    ...commits.map((commit) => `Unpushed: ${commit}`),
    ...(commits.length > 0 && more > 0 ? [`Unpushed: ${more} more`] : []),
    `Get it back: holdfast ${verb === "delete" ? `trash restore ${trashed.trash}` : `session restore ${before.id}`}`,
  ];
}

export function noticesSince(services: VerbServices, before: SessionState): string[] {
  return services.store
    .someEvents(before.id, { after: before.seq, types: ["notice", "context.reset"], ...eventPage })
    .flatMap((event) => {
      if (event.type === "notice") return [event.text];
      return event.type === "context.reset" ? [`Conversation context reset: ${event.reason}`] : [];
    });
}
