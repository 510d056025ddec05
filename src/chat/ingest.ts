/**
 * Turns agents' output into events and commits them with the offset that was read. A turn that an agent started itself has
 * no response that could end it: it ends when nothing more arrives for a while.
 */
import { mapOutput } from "./acp-events.ts";
import type { JudgedRequest, OutputItem, RuleAnswer } from "../model/acp.ts";
import type { Agents } from "../ports/agents.ts";
import type { Ingest } from "../ports/chat.ts";
import type { Store } from "../ports/store.ts";
import type { FactEvent } from "../contract/event.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { RuleBook } from "../ports/permission-rules.ts";

export interface IngestOptions {
  /** How long an agent's own turn may be silent. A wrong guess does no harm: more output opens another turn. */
  quietMs?: number;
  onTurnEnd?: (session: SessionId) => void;
}

const defaultQuietMs = 60_000;
/** Events that a decision may follow from; text alone does not wake the loop. */
const decisive: ReadonlySet<FactEvent["type"]> = new Set<FactEvent["type"]>([
  ...(["turn.started", "turn.ended", "permission.asked", "permission.answered", "chat.opened"] as const),
  ...(["auth.required", "output.damaged", "conversation.pinned"] as const),
]);

export function createIngest(
  parts: { store: Store; agents: Agents; rules?: Pick<RuleBook, "refresh" | "judge" | "problem"> },
  { quietMs = defaultQuietMs, onTurnEnd }: IngestOptions = {},
): { ingest: Ingest; close: () => void } {
  const { store, agents, rules } = parts;
  const timers = new Map<SessionId, NodeJS.Timeout>();

  const watchOwnTurn = (state: SessionState): void => {
    clearTimeout(timers.get(state.id));
    timers.delete(state.id);
    if (!isOwnTurn(state)) return;
    const timer = setTimeout(() => {
      timers.delete(state.id);
      // A tool that runs or a question that is open is not silence; the next word arms the timer again.
      store
        .commit(state.id, (now) =>
          isOwnTurn(now) && now.permissions.length === 0
            ? [{ type: "turn.ended", stopReason: "quiet", promptId: null }]
            : [],
        )
        .catch(() => undefined);
    }, quietMs);
    timers.set(state.id, timer.unref());
  };

  return {
    async ingest({ session, launch, from, to, items }) {
      let replies = false;
      let answered: string[] = [];
      let events: FactEvent[] = [];
      // Only for permission requests: reading the file takes longer than most batches.
      if (rules !== undefined && items.some(isPermissionRequest)) await rules.refresh();
      const { state, place } = await store.chat(session, launch, (now, before) => {
        [replies, answered, events] = [false, [], []];
        // Another process has committed this batch.
        if (before === null || before.outRead !== from) return null;
        const replayEnds = agents.of(now)?.chat?.replayEnds ?? "answer";
        const judge = (request: JudgedRequest): RuleAnswer | null => rules?.judge(now, request) ?? null;
        const { replayFilter, inEnd } = before;
        const mapped = mapOutput(items, { state: now, launch, replayFilter, inEnd, replayEnds, judge });
        noteProblem(mapped.events, rules?.problem() ?? null);
        replies = mapped.lines.length > 0;
        answered = mapped.answers.map(({ key }) => key);
        events = mapped.events;
        return { ...mapped, outRead: to };
      });
      if (events.some(({ type }) => type === "turn.ended")) onTurnEnd?.(session);
      if (isOwnTurn(state) || timers.has(session)) watchOwnTurn(state);
      return {
        state,
        replies,
        answered,
        read: place?.outRead ?? from,
        decisive: answered.length > 0 || events.some((event) => decisive.has(event.type)),
      };
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

function isPermissionRequest(item: OutputItem): boolean {
  return item.item === "message" && item.message["method"] === "session/request_permission";
}

/** Next to the permission request, so that the user sees why no rule answered it. */
function noteProblem(events: FactEvent[], problem: string | null): void {
  if (problem === null || !events.some(({ type }) => type === "permission.asked")) return;
  events.push({ type: "notice", level: "warn", text: `Permission rules are off until this is corrected: ${problem}` });
}

function isOwnTurn({ turn }: SessionState): boolean {
  return turn.turn === "open" && turn.prompt === null;
}
