/** Sessions: lists, verbs, rename, conversion. `cleanup.ts` and `run-verb.ts` do the longer work. */
import { HoldfastError } from "../contract/errors.ts";
import type { Output } from "../contract/operations.ts";
import { plainVerbNames, type PlainVerb } from "../contract/session.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import type { SessionState } from "../model/session.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import type { Loop } from "../supervisor/loop.ts";
import { sessionJson } from "../supervisor/view.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { visibleTo } from "./authorize.ts";
import type { CleanupServices } from "./cleanup.ts";
import { findSession } from "./find.ts";
import { noticesSince, runVerb, whatRemains, type VerbServices } from "./run-verb.ts";

type SessionOperation = PlainVerb | "sessions" | "session" | "snooze" | "rename" | "convert" | "cleanup";

export function sessionHandlers(
  services: CleanupServices,
  loop: Loop,
  tracking: LazyTracking,
): Handlers<SessionOperation> {
  const json = (session: SessionState) => sessionJson(services, loop, session);
  const plain = plainVerbNames.map((verb) => [
    verb,
    (request: ApiRequest<PlainVerb>) => runVerb(services, loop, { verb }, request),
  ]);
  return {
    sessions: ({ query, actor }) =>
      visibleTo(services, actor, services.store.sessions())
        .filter((session) => query.project === undefined || session.project === query.project)
        .map(json),
    session: (request) => json(findSession(services, request)),
    ...(Object.fromEntries(plain) as Handlers<PlainVerb>),
    snooze: (request) =>
      runVerb(services, loop, { verb: "snooze", until: services.clock.now() + request.input.forMs }, request),
    rename: async (request) => {
      const rename = { verb: "rename" as const, title: request.input.title };
      return json(await commitVerb(services, loop, findSession(services, request), rename, request.actor));
    },
    convert: (request) => convert(services, loop, request),
    // Loaded on demand: a starting daemon asks no tracker [TRACKER-38].
    cleanup: async (request) => (await import("./cleanup.ts")).cleanup(services, loop, tracking, request),
  };
}

/** After this the response lists what remains; the daemon continues to convert. */
const stopWaitMs = 15_000;

/** Records the intent to run as the other kind; the loop stops one agent and starts the other. */
async function convert(services: VerbServices, loop: Loop, request: ApiRequest<"convert">): Promise<Output<"convert">> {
  const { kind, fresh = false, wait = true } = request.input;
  const session = findSession(services, request);
  const agent = services.agents.of(session);
  if (agent === null || agent[kind] === null)
    throw new HoldfastError("invalid", `${session.agent} has no ${kind} kind.`);
  const handsOver = agent.handsOver === true;
  const verb = { verb: "convert" as const, kind, fresh, handsOver };
  const recorded = await commitVerb(services, loop, session, verb, request.actor);
  loop.asked(session.id);
  if (!wait) return { session: sessionJson(services, loop, recorded), remaining: [], done: false, notes: [] };
  const latest = (): SessionState => services.store.session(session.id) ?? recorded;
  await loop.waitFor(session.id, () => !isPending(latest()), stopWaitMs, request.signal);
  const state = latest();
  if (state.intent.want !== "running") throw cancelled(state, kind);
  if (isPending(state)) {
    const json = sessionJson(services, loop, state);
    return { session: json, done: false, ...whatRemains(loop, state, json) };
  }
  const json = await waitUntilUp(services, loop, { ...state, seq: state.intent.seq }, request.signal);
  const notes = fresh && session.kind === "chat" ? noticesSince(services, session) : [];
  return { session: json, remaining: [], done: true, notes };
}

function isPending({ intent }: SessionState): boolean {
  return intent.want === "running" && intent.convert !== undefined;
}

/** The user or a policy decided otherwise while the agent was being stopped. */
function cancelled({ id, intent, kind: is }: SessionState, kind: string): HoldfastError {
  const message = is === kind ? `it was ${intent.want} before its agent ran` : `it was ${intent.want} in the meantime`;
  return new HoldfastError("conflict", `${message} and stays ${intent.want}.`, {
    hint: `See holdfast session show ${id}.`,
  });
}
