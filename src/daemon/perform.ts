/**
 * Carries out one action: records what it is about to do, does it, records what came of it. Each can be repeated after
 * a crash at any point, because the next decision is made from what is then seen.
 */
import { crypto } from "../base/crypto.ts";
import { startedAt } from "../base/pid.ts";
import { Slots } from "../base/slots.ts";
import { reach } from "../base/test-points.ts";
import type { Action } from "../core/facts.ts";
import type { LaunchRequest, LaunchResult, Observation, Runtime } from "../ports/runtime.ts";
import type { SessionEvent } from "../protocol/event.ts";
import { HoldfastError, messageOf } from "../protocol/error.ts";
import { asLaunchId, type LaunchId, type PromptId, type TrashId } from "../protocol/ids.ts";
import type { ExitStatus, SessionState } from "../protocol/session.ts";
import type { Parts } from "./parts.ts";
import { planFor, repositoryOf } from "./plan.ts";
import { promptToSend } from "./prompt-text.ts";

/** `seen`: the action itself tells how it looks now, so that no look is needed behind it. */
export type Outcome = "done" | { retryInMs: number } | { seen: Observation };
export type Perform = (session: SessionState, action: Action, seen: Observation) => Promise<Outcome>;

/** Starts at once: more would make each of them slow and the machine unusable after a reboot. */
const startsAtOnce = 4;
/** The whole tree is to be gone within 10 s of a kill. */
const stopDeadlineMs = 9_000;
/** A prompt that could not be typed now is tried again after this, or when something changes. */
const sendRetryMs = 3_000;
const stopRetryMs = 1_000;
/** A checkout keeps disk and processor busy: the agent that is being started, and whoever waits for it, go first. */
const spareDelayMs = 500;
/** A launch without a sign of life has fewer events than this behind its start. */
const launchEvents = 20;

export function createPerform(parts: Parts): Perform {
  const starts = new Slots(startsAtOnce);
  return async (session, action, seen) => {
    await reach(`perform.${action.do}`);
    switch (action.do) {
      case "create-workspace":
        return createWorkspace(parts, session);
      case "restore-workspace":
        return restoreWorkspace(parts, session);
      case "remove-workspace":
        return removeWorkspace(parts, session);
      case "launch":
        return starts.run(() => launch(parts, session, action));
      case "adopt":
        return adopt(parts, session, seen);
      case "deliver":
        return deliver(parts, session, action.prompt);
      case "settle-prompt":
        return record(parts, session, [
          {
            type: "prompt.doubtful",
            promptId: action.prompt,
            reason: "something stopped while it was being sent; it may or may not have arrived",
          },
        ]);
      case "settle-turn":
        return settleTurn(parts, session, action.as);
      case "record-end":
        return recordEnd(parts, session, action, seen);
      case "reset-context":
        return record(parts, session, [
          { type: "context.reset", reason: action.why, previous: session.agentSessionId },
        ]);
      case "stop":
        if (session.kind === "chat" && action.why === "deleted") await parts.runtimes.chat.deleteConversation(session);
        if (session.kind === "chat" && action.why === "restart") parts.runtimes.chat.markRestarting(session);
        return stop(parts, session, action.force);
      case "wake":
        return wake(parts, session);
      case "wait":
        return "done";
      default:
        action satisfies never;
        return "done";
    }
  };
}

async function record(parts: Parts, session: SessionState, events: SessionEvent[]): Promise<"done"> {
  await parts.store.change(session.id, () => events);
  return "done";
}

async function settleTurn(parts: Parts, session: SessionState, stopReason: string): Promise<"done"> {
  await parts.store.change(session.id, ({ turn }) =>
    turn.turn === "open" ? [{ type: "turn.ended", stopReason, promptId: turn.prompt }] : [],
  );
  return "done";
}

/** Unless the person decided otherwise in this very instant. */
async function wake(parts: Parts, session: SessionState): Promise<"done"> {
  await parts.store.change(session.id, (now) =>
    now.intent.want === "snoozed" && now.intent.seq === session.intent.seq
      ? [{ type: "session.intent", want: { want: "running" }, by: "snooze-timer" }]
      : [],
  );
  return "done";
}

function runtimeOf(parts: Parts, session: SessionState): Runtime {
  return parts.runtimes[session.kind];
}

async function createWorkspace(parts: Parts, session: SessionState): Promise<Outcome> {
  const plan = await planFor(parts, session);
  const output: string[] = [];
  try {
    const ready = await parts.workspaces.create(plan, (text) => void output.push(text));
    await reach("workspace.created");
    parts.workspaces.exclude(ready.path, parts.agents.get(session.agent)?.terminal?.exclude ?? []);
    prepareSpare(parts, session);
    return await record(parts, session, [
      ...(output.length === 0 ? [] : [{ type: "workspace.output" as const, text: output.join("").slice(-64_000) }]),
      { type: "workspace.ready", ...ready },
    ]);
  } catch (error) {
    // All or nothing: what was made of it goes. Whoever waits for the spawn removes the session; else it says why.
    parts.log.warn("a worktree could not be made", { session: session.id, error });
    await parts.workspaces.undo(plan);
    return record(parts, session, [{ type: "workspace.gone", reason: messageOf(error) }]);
  }
}

/** Behind the spawn, for the next one; where it fails, the next spawn makes its worktree by itself. */
function prepareSpare(parts: Parts, session: SessionState): void {
  const { project } = session;
  const prepare = async (): Promise<void> => {
    const { path, defaultBranch, spareWorktrees } = await parts.settings.forSession(project);
    if (spareWorktrees !== 0) await parts.workspaces.prepareSpare(path, defaultBranch, spareWorktrees === 1);
  };
  const begin = (): void =>
    void prepare().catch((error: unknown) => parts.log.warn("no spare worktree could be made", { project, error }));
  setTimeout(begin, spareDelayMs).unref();
}

async function restoreWorkspace(parts: Parts, session: SessionState): Promise<Outcome> {
  const trash = session.workspace.at === "trashed" ? session.workspace.trash : await newestInTrash(parts, session);
  if (trash === null) return "done";
  try {
    const { path, branch, notes } = await parts.workspaces.restore(trash);
    return await record(parts, session, [
      { type: "workspace.restored", trash, path, branch },
      ...notes.map((text): SessionEvent => ({ type: "notice", level: "info", text })),
    ]);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "not-found") throw error;
    return record(parts, session, [{ type: "workspace.gone", reason: error.message }]);
  }
}

async function newestInTrash(parts: Parts, session: SessionState): Promise<TrashId | null> {
  const entries = (await parts.workspaces.listTrash()).filter((entry) => entry.session === session.id);
  return entries.toSorted((a, b) => a.trashedAt - b.trashedAt).at(-1)?.id ?? null;
}

async function removeWorkspace(parts: Parts, session: SessionState): Promise<Outcome> {
  if (session.workspace.at === "planned") {
    await parts.workspaces.undo(await planFor(parts, session));
    return record(parts, session, [{ type: "workspace.gone", reason: "ended before the worktree was made" }]);
  }
  const { id, workspacePath: path, branch } = session;
  const repository = await repositoryOf(parts, session);
  const entry = await parts.workspaces.trash({ session: id, repository, path, branch });
  await reach("workspace.trashed");
  return record(parts, session, [
    entry === null
      ? { type: "workspace.gone", reason: `there was nothing at ${path}` }
      : {
          type: "workspace.trashed",
          trash: entry.id,
          ref: entry.ref,
          uncommitted: entry.uncommitted,
          unpushed: entry.unpushed.length,
        },
  ]);
}

async function launch(
  parts: Parts,
  session: SessionState,
  action: Extract<Action, { do: "launch" }>,
): Promise<Outcome> {
  const runtime = runtimeOf(parts, session);
  // Before anything is on record: what cannot be read is no crash of the agent.
  const env = await environmentFor(parts, session);
  const id = asLaunchId(crypto().randomUUID());
  // A chat agent is told once its conversation is open.
  const waiting = session.kind === "chat" ? undefined : session.queue.find((prompt) => prompt.state === "queued");
  const prompt = waiting === undefined ? null : promptToSend(parts, session, waiting.promptId);
  const begun = await parts.store.change(session.id, (now) =>
    now.intent.want === "running" && now.run.run !== "launching" && now.run.run !== "up"
      ? [
          { type: "launch.started", launch: id, how: action.how, attempt: action.attempt },
          // On record before it is given away as an argument: a crash from here on must not give it twice.
          ...(prompt === null ? [] : [{ type: "prompt.sending" as const, promptId: prompt.promptId, launch: id }]),
          ...(action.how === "fresh" && session.prompted && session.agentSessionId !== null
            ? [
                {
                  type: "notice" as const,
                  level: "warn" as const,
                  text: "This agent cannot take its conversation up again; it was started plainly.",
                },
              ]
            : []),
        ]
      : [],
  );
  if (begun.run.run !== "launching" || begun.run.launch !== id) return "done";
  await reach("launch.recorded");
  const request: LaunchRequest = {
    session: begun,
    launch: id,
    how: action.how,
    prompt: prompt === null ? null : { promptId: prompt.promptId, text: prompt.text },
    env,
  };
  const result = await runtime.launch(request).catch(async (error: unknown) => {
    // The runtime could not be reached: nobody crashed, and it is tried again.
    await record(parts, session, [ended(parts, begun, "lost", null, [])]);
    throw error;
  });
  await reach("launch.made");
  if (result.launched) {
    const { agent, agentSessionId, promptTaken } = result;
    const up = await parts.store.change(session.id, () => [
      // A chat agent's id is on record as soon as its conversation is open.
      ...pinned(parts.store.session(session.id) ?? begun, agentSessionId),
      { type: "launch.up", launch: id, agent },
      ...(prompt === null ? [] : [firstPrompt(prompt.promptId, promptTaken)]),
    ]);
    // Before anything is typed the screen has to be seen: it may show a question.
    if (up.kind !== "terminal" || up.queue.length > 0) return "done";
    const processes = [{ identity: agent, what: "agent", startedAt: startedAt(agent) ?? parts.clock.now() }];
    const value = { launch: id, agent: { alive: true as const, identity: agent }, processes, agentSessionId };
    return { seen: { seen: { is: "known", value: { ...value, activity: null, lastLines: [] } }, cause: null } };
  }
  const back = prompt === null ? [] : [requeued(prompt.promptId, "the agent did not start")];
  const resumed = { ...result, conversationGone: result.conversationGone && action.how === "resume" };
  return launchFailed(parts, session, id, resumed, back);
}

function firstPrompt(promptId: PromptId, taken: boolean): SessionEvent {
  return taken
    ? { type: "prompt.sent", promptId, seenBy: "argument" }
    : requeued(promptId, "to be typed once the agent is up");
}

function requeued(promptId: PromptId, reason: string): SessionEvent {
  return { type: "prompt.requeued", promptId, reason };
}

async function environmentFor(parts: Parts, session: SessionState): Promise<Record<string, string>> {
  return {
    ...(await parts.settings.forSession(session.project)).env,
    ...parts.agents.get(session.agent)?.env,
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: parts.home,
  };
}

function pinned(session: SessionState, agentSessionId: string | null): SessionEvent[] {
  return agentSessionId === null || agentSessionId === session.agentSessionId
    ? []
    : [{ type: "conversation.pinned", agentSessionId }];
}

/** The launch was made by an earlier daemon, or by this one before it could write so down. */
async function adopt(parts: Parts, session: SessionState, seen: Observation): Promise<Outcome> {
  if (seen.seen.is !== "known" || !seen.seen.value.agent.alive) return "done";
  if (session.kind === "chat") return takeUpChat(parts, session, seen.seen.value.launch);
  const { launch, agent, agentSessionId, promptTaken = false } = seen.seen.value;
  const given =
    session.run.run === "launching" ? session.queue.find((prompt) => prompt.state === "sending") : undefined;
  return record(parts, session, [
    ...pinned(session, agentSessionId),
    { type: "launch.adopted", launch, agent: agent.identity },
    ...(given === undefined ? [] : [firstPrompt(given.promptId, promptTaken)]),
  ]);
}

/** A chat's start is over when its conversation is open: what an earlier daemon began is taken up where it stands. */
async function takeUpChat(parts: Parts, session: SessionState, launch: LaunchId): Promise<Outcome> {
  const how = session.run.run === "launching" ? session.run.how : "fresh";
  const env = await environmentFor(parts, session);
  const result = await parts.runtimes.chat.launch({ session, launch, how, prompt: null, env });
  if (!result.launched) return launchFailed(parts, session, launch, result);
  const { agent, agentSessionId } = result;
  return record(parts, session, [...pinned(session, agentSessionId), { type: "launch.adopted", launch, agent }]);
}

async function launchFailed(
  parts: Parts,
  session: SessionState,
  launch: LaunchId,
  { reason, lastLines, conversationGone }: Extract<LaunchResult, { launched: false }>,
  more: SessionEvent[] = [],
): Promise<"done"> {
  const why = `the agent no longer has this conversation: ${reason}`;
  return record(parts, session, [
    { type: "launch.failed", launch, reason, lastLines },
    ...more,
    ...(conversationGone ? [{ type: "context.reset" as const, reason: why, previous: session.agentSessionId }] : []),
  ]);
}

async function deliver(parts: Parts, session: SessionState, promptId: PromptId): Promise<Outcome> {
  if (session.run.run !== "up") return "done";
  const prompt = promptToSend(parts, session, promptId);
  if (session.kind === "chat") return tell(parts, session, prompt);
  await record(parts, session, [{ type: "prompt.sending", promptId, launch: session.run.launch }]);
  await reach("prompt.recorded");
  const result = await runtimeOf(parts, session).send(session, { promptId, text: prompt.text });
  await reach("prompt.typed");
  switch (result.sent) {
    case "seen":
      return record(parts, session, [{ type: "prompt.sent", promptId, seenBy: result.by }]);
    case "doubtful":
      return record(parts, session, [{ type: "prompt.doubtful", promptId, reason: result.why }]);
    case "not-now":
      await record(parts, session, [requeued(promptId, result.why)]);
      return { retryInMs: sendRetryMs };
    default:
      result satisfies never;
      return "done";
  }
}

/** A chat runtime records the prompt in the same commit as the line it writes: there is nothing to be settled here. */
async function tell(
  parts: Parts,
  session: SessionState,
  prompt: { promptId: PromptId; text: string },
): Promise<Outcome> {
  const result = await runtimeOf(parts, session).send(session, prompt);
  await reach("prompt.typed");
  if (result.sent === "doubtful") parts.log.warn("a prompt could not be written", { session: session.id, why: result.why });
  return result.sent === "seen" ? "done" : { retryInMs: sendRetryMs };
}

async function recordEnd(
  parts: Parts,
  session: SessionState,
  action: Extract<Action, { do: "record-end" }>,
  seen: Observation,
): Promise<Outcome> {
  const started = session.run;
  if (started.run !== "up" && started.run !== "launching") return "done";
  const known = seen.seen.is === "known" ? seen.seen.value : null;
  await parts.store.change(session.id, (state) =>
    state.run.run === started.run && state.run.launch === started.launch
      ? [
          ...pinned(session, known?.agentSessionId ?? null),
          ...lostWithIt(parts, state, action.how),
          ended(parts, session, action.how, action.exit, action.lastLines),
        ]
      : [],
  );
  // What the agent left behind (a dead pane, children of its own) goes now that its end is on record.
  if (known !== null) await runtimeOf(parts, session).stop(session, { force: false, deadlineMs: stopDeadlineMs });
  return "done";
}

/** A prompt that was given as an argument to an agent which crashed before its first sign of life did not reach anybody. */
function lostWithIt(parts: Parts, session: SessionState, how: string): SessionEvent[] {
  if (how !== "crash" || session.activity !== null) return [];
  const recent = parts.store.events(session.id, Math.max(0, session.seq - launchEvents), launchEvents);
  const started = recent.findLastIndex((event) => event.type === "launch.started");
  const given = recent.slice(started + 1).find((event) => event.type === "prompt.sent" && event.seenBy === "argument");
  return given?.type === "prompt.sent" ? [requeued(given.promptId, "the agent crashed before it could read it")] : [];
}

function ended(
  parts: Parts,
  session: SessionState,
  how: "own-exit" | "crash" | "stopped" | "lost",
  exit: ExitStatus | null,
  lastLines: string[],
): SessionEvent {
  if (session.run.run !== "up" && session.run.run !== "launching") throw new Error(`${session.id} has no run to end`);
  const uptimeMs = Math.max(0, parts.clock.now() - session.run.at);
  return { type: "run.ended", launch: session.run.launch, how, exit, uptimeMs, lastLines };
}

async function stop(parts: Parts, session: SessionState, force: boolean): Promise<Outcome> {
  const { remaining, exit, lastLines } = await runtimeOf(parts, session).stop(session, {
    force,
    deadlineMs: stopDeadlineMs,
  });
  if (remaining.length > 0) {
    parts.log.warn("some processes did not end yet", { session: session.id, remaining });
    return { retryInMs: stopRetryMs };
  }
  await reach("stop.ended");
  const { run } = session;
  if (run.run === "up" || run.run === "launching") {
    await parts.store.change(session.id, (state) =>
      (state.run.run === "up" || state.run.run === "launching") && state.run.launch === run.launch
        ? [ended(parts, session, "stopped", exit, lastLines)]
        : [],
    );
  }
  return "done";
}
