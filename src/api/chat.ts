/** Chat sessions beyond the verbs: turns, the agent's process and settings, and the recap. */
import { HoldfastError } from "../contract/errors.ts";
import type { StoredEvent } from "../contract/event.ts";
import type { PromptId, SessionId } from "../contract/ids.ts";
import { isEnoughForRecap, makeRecap, recapTypes, type Recap } from "../model/recap.ts";
import type { SessionState } from "../model/session.ts";
import { chatActivity } from "../model/status.ts";
import type { Handlers } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import type { Loop } from "../supervisor/loop.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";
import { iso, sessionJson } from "../supervisor/view.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { findChat, integer } from "./find.ts";
import { noticesSince, runVerb, whatRemains, type VerbServices } from "./run-verb.ts";

/** Real agents end a cancelled turn within half a second; one that does not can be ended by force. */
const cancelWaitMs = 10_000;
const defaultLogLines = 100;

type ChatOperation =
  | "workers"
  | "cancel"
  | "endTurn"
  | "configure"
  | "acpKill"
  | "acpRestart"
  | "acpLogs"
  | "primer"
  | "primerDismiss";

export function chatHandlers(services: VerbServices, loop: Loop): Handlers<ChatOperation> {
  const { store } = services;
  const { chat } = services.runtimes;
  const latest = (session: SessionState): SessionState => store.session(session.id) ?? session;
  const json = (session: SessionState) => sessionJson(services, loop, session);
  return {
    workers: () =>
      store.sessions().flatMap((session) => {
        const seen = loop.observation(session)?.seen;
        if (session.kind !== "chat" || seen?.is !== "known" || !seen.value.agent.alive) return [];
        const { agent, processes, build, stale = false } = seen.value;
        return [
          {
            pid: agent.identity.pid,
            session: session.id,
            agent: session.agent,
            state: chatActivity(session),
            build: build ?? "",
            stale,
            detached: !processes.some(({ what }) => what === "keeper"),
            startedAt: iso(processes.find(({ what }) => what === "agent")?.startedAt ?? 0),
          },
        ];
      }),
    cancel: async (request) => {
      const session = findChat(services, request);
      const result = await chat.cancel(session, { by: request.actor, waitMs: cancelWaitMs });
      if (result.cancelled === "ended") return { cancelled: true, stopReason: result.stopReason, reason: null };
      const reasons = {
        "no-turn": "No turn is in flight.",
        "not-yet": `The agent was asked and has not ended its turn yet. By force: holdfast acp end-turn ${session.id}`,
        "not-sent": result.cancelled === "not-sent" ? result.why : "",
      };
      return { cancelled: false, stopReason: null, reason: reasons[result.cancelled] };
    },
    endTurn: async (request) => {
      const session = findChat(services, request);
      if (session.turn.turn !== "open") {
        const hint = `See holdfast acp history ${session.id}`;
        throw new HoldfastError("conflict", "No turn is in flight.", { hint });
      }
      await chat.endTurn(session, request.actor);
      loop.asked(session.id);
      return json(latest(session));
    },
    configure: async (request) => {
      const { mode, model, option } = request.input;
      const session = findChat(services, request);
      const settings = [
        ...(mode === undefined ? [] : [{ set: "mode" as const, value: mode }]),
        ...(model === undefined ? [] : [{ set: "model" as const, value: model }]),
        ...(option === undefined ? [] : [{ set: "config" as const, ...option }]),
      ];
      for (const setting of settings) {
        const result = await chat.configure(session, setting, request.actor);
        if (!result.applied) throw new HoldfastError("conflict", `The agent refused the setting: ${result.why}`);
      }
      return json(latest(session));
    },
    /** The same intent as a stop, with a shorter deadline. */
    acpKill: async (request) => {
      const session = findChat(services, request);
      const state = await commitVerb(services, loop, session, { verb: "stop" }, request.actor);
      await chat.stop(state, { force: true, deadlineMs: cancelWaitMs });
      return runVerb(services, loop, { verb: "stop" }, { ...request, input: {} });
    },
    acpRestart: async (request) => {
      const session = findChat(services, request);
      if (session.run.run !== "up") {
        throw new HoldfastError("conflict", "The agent is not running.", {
          hint: `Bring it back: holdfast session restore ${session.id}`,
        });
      }
      const { launch } = session.run;
      const isReplaced = (): boolean => {
        const { run } = latest(session);
        return run.run !== "up" || run.launch !== launch;
      };
      loop.restart(session.id, launch);
      if (await loop.waitFor(session.id, isReplaced, cancelWaitMs, request.signal)) {
        const up = await waitUntilUp(services, loop, latest(session), request.signal);
        return { session: up, remaining: [], done: true, notes: noticesSince(services, session) };
      }
      const state = latest(session);
      return { session: json(state), done: false, ...whatRemains(loop, state, json(state)) };
    },
    acpLogs: (request) => {
      const lines = integer("lines", request.query.lines, defaultLogLines);
      return { lines: chat.errorLines(findChat(services, request), lines) };
    },
    primer: (request) => {
      const session = findChat(services, request);
      return recapOf(store, session.id, integer("before_seq", request.query.before_seq, session.seq + 1, 0));
    },
    /** Recorded, so that no other tab and no later visit offers it again. */
    primerDismiss: async (request) => {
      const { id } = findChat(services, request);
      return json(await store.commit(id, () => [{ type: "primer.dismissed", by: request.actor }]));
    },
  };
}

/** A recap reads back no further: of a longer turn it has the prompt and the end. */
const mostEvents = 100_000;
const mostChars = 16 * 1024 * 1024;

export function recapOf(store: Store, id: SessionId, before: number): Recap {
  const { events, more } = newest(store, id, before);
  return makeRecap(events, { more, promptText: (promptId) => textOf(store, id, promptId) });
}

/** As many of the newest events as a recap can contain. They begin with the start of a turn: no part of one passes for a complete turn. */
function newest(store: Store, id: SessionId, before: number): { events: StoredEvent[]; more: boolean } {
  let events: StoredEvent[] = [];
  let chars = 0;
  for (;;) {
    const end = events[0]?.seq ?? before;
    const older = store.someEvents(id, { before: end, types: recapTypes, newest: true, ...eventPage });
    events = [...older, ...events];
    chars += older.reduce((sum, event) => sum + ("text" in event ? event.text.length : 0), 0);
    if (older.length === 0) return { events, more: false };
    const tooLong = events.length >= mostEvents || chars >= mostChars;
    if (!tooLong && !isEnoughForRecap(events)) continue;
    const first = events.findIndex(({ type }) => type === "turn.started");
    const started =
      first >= 0 ? events[first] : lastEvent(store, id, { before: events[0]!.seq, types: ["turn.started"] });
    if (started === undefined) return { events, more: false };
    const later = first >= 0 ? events.slice(first + 1) : events;
    return { events: [started, ...later], more: started.seq > firstTurn(store, id) };
  }
}

function firstTurn(store: Store, id: SessionId): number {
  return store.someEvents(id, { types: ["turn.started"], ...eventPage, limit: 1 })[0]?.seq ?? 0;
}

/** A prompt may have been queued so long that no page has its admission; a damaged one is left out. */
function textOf(store: Store, id: SessionId, promptId: PromptId): string | null {
  try {
    return store.prompt(id, promptId)?.text ?? null;
  } catch {
    return null;
  }
}
