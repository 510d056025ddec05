/** A person's verbs: the intent is on disk first, then the loop makes it so, then the answer says how it looks. */
import type { Verb } from "../model/lifecycle.ts";
import { isLive } from "../model/runs.ts";
import type { ApiRequest } from "../ports/api.ts";
import { verbs, type VerbName } from "../model/verbs.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asSessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { VerbRequest } from "../contract/operation.ts";
import type { VerbAnswer } from "../contract/session.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import { runtimeFacts } from "../supervisor/observe.ts";
import { forgetConversation, noteKeptConversation } from "../supervisor/execute/conversation.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { sessionJson } from "../supervisor/view.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";

/** After this the answer says what remains; the daemon goes on ending it. */
const endDeadlineMs = Number(process.env["HOLDFAST_TEST_END_MS"] ?? 10_000);

export type PlainVerb = Exclude<VerbName, "rename" | "restart" | "convert">;

export async function runVerb(
  parts: Services,
  loop: Loop,
  verb: Verb & { verb: PlainVerb },
  ask: Pick<ApiRequest<PlainVerb>, "params" | "actor" | "signal"> & { input: VerbRequest },
): Promise<VerbAnswer> {
  const { verb: name } = verb;
  const session = findSession(parts, ask);
  const state = await commitVerb(parts, loop, session, verb, ask.actor);
  // Holdfast removes no transcript of a terminal agent: it has no command for that.
  if (name === "delete" && session.kind === "terminal") await noteKeptConversation(parts, session);
  // Nothing of it runs, so the loop has no agent to ask.
  if (name === "delete" && session.kind === "chat" && !isLive(session.run)) {
    await forgetConversation(parts, session, "not-running");
  }
  loop.asked(session.id);
  const wait = ask.input.wait !== false;
  if (verbs[name].endsWith === "up") {
    const json = wait ? await waitUntilUp(parts, loop, state, ask.signal) : sessionJson(parts, loop, state);
    return { session: json, remaining: [], done: wait, notes: noticesSince(parts, session) };
  }
  const isOver = (): boolean => isDown(parts, loop, session, name) || isHeld(loop, session);
  if (wait) await loop.waitFor(session.id, isOver, endDeadlineMs, ask.signal);
  const latest = parts.store.session(session.id) ?? state;
  const json = sessionJson(parts, loop, latest);
  const down = isDown(parts, loop, session, name);
  if (!down) return { session: json, done: false, ...whatRemains(loop, latest, json) };
  return {
    session: json,
    remaining: [],
    done: true,
    notes: [
      ...(name === "kill" || name === "delete" ? keptWork(parts, session, name) : []),
      ...(name === "delete" ? noticesSince(parts, session) : []),
    ],
  };
}

/** A request about a session. */
export type Named = { params: { id: string } };

export function findSession({ store }: Pick<Services, "store">, { params: { id } }: Named): SessionState {
  const session = store.session(asSessionId(id));
  if (session !== null && session.intent.want !== "deleted") return session;
  throw new HoldfastError("not-found", "Session not found", {
    hint: "List sessions: holdfast session ls --include-terminated",
    details: { reason: "session-not-found", session: id },
  });
}

/** What keeps a session from being down, in words: the daemon goes on, and the person should know at what. */
export function whatRemains(
  loop: Loop,
  session: SessionState,
  json: VerbAnswer["session"],
): Pick<VerbAnswer, "remaining" | "notes"> {
  const { run, workspace } = session;
  const seen = runtimeFacts(loop.observation(session));
  const recorded = run.run === "up" && run.agent !== null ? [{ pid: run.agent.pid, what: "agent" }] : [];
  const listed = json.processes.map(({ pid, what }) => ({ pid, what }));
  const trouble = loop.lastError(session.id);
  return {
    remaining: listed.length > 0 ? listed : recorded,
    notes: [
      ...(seen.is === "unknown" ? [`It could not be observed: ${seen.why}`] : []),
      ...(workspace.at === "ready" && (run.run === "ended" || run.run === "failed" || run.run === "none")
        ? [`Its worktree is still at ${session.workspacePath}`]
        : []),
      ...(workspace.at === "planned" ? [`Its worktree is still being made at ${session.workspacePath}`] : []),
      ...(trouble === null ? [] : [trouble.message]),
      "The daemon goes on.",
    ],
  };
}

/** Twice in the way, a second apart: the user learns at once what it is, and the daemon keeps trying. */
function isHeld(loop: Loop, { id }: SessionState): boolean {
  const trouble = loop.lastError(id);
  return trouble !== null && trouble.isConflict && trouble.count > 1;
}

function isDown(parts: Services, loop: Loop, { id }: SessionState, verb: PlainVerb): boolean {
  const state = parts.store.session(id);
  if (state === null) return true;
  // An end that is on record is not yet the end of what the agent left behind.
  if (isLive(state.run) || runtimeFacts(loop.observation(state)).is !== "absent") return false;
  const { at } = state.workspace;
  if (verb === "kill" || verb === "delete") return at !== "ready" && at !== "planned";
  // What makes the worktree is ended as well.
  return at !== "planned" || !loop.isBusy(id);
}

/** Says where uncommitted or unpushed work went, and how to get it back. */
function keptWork(parts: Services, before: SessionState, verb: PlainVerb): string[] {
  const trashed = lastEvent(parts.store, before.id, { after: before.seq, types: ["workspace.trashed"] });
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

export function noticesSince(parts: Services, before: SessionState): string[] {
  return parts.store
    .someEvents(before.id, { after: before.seq, types: ["notice", "context.reset"], ...eventPage })
    .flatMap((event) =>
      event.type === "notice"
        ? [event.text]
        : event.type === "context.reset"
          ? [`Conversation context reset: ${event.reason}`]
          : [],
    );
}
