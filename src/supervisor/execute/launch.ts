/** Actions that start a run, or take over a started one: launch and adopt. */
import { randomUUID } from "node:crypto";
import { startedAt } from "../../base/pid.ts";
import { reach } from "../../base/test-points.ts";
import type { Action } from "../../model/facts.ts";
import { couldNotStart, isRelaunch } from "../../model/runs.ts";
import type { LaunchResult, Observation } from "../../ports/runtime.ts";
import type { FactEvent } from "../../contract/event.ts";
import { asLaunchId, type LaunchId, type PromptId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../services.ts";
import { ended } from "./stop.ts";
import { hasImage, promptToSend, typedPrompt } from "./prompts.ts";
import { conversationKnown, record, requeued, type Outcome } from "../record.ts";
import { passedOn } from "../../base/clean-env.ts";
import { capabilityVariable, socketVariable } from "../../contract/caller.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { isShellSession } from "../callers/callers.ts";

type EnvironmentServices = Pick<
  Services,
  "agents" | "settings" | "programs" | "home" | "agentsSocket" | "capabilities"
>;
type Needs = EnvironmentServices & Pick<Services, "store" | "runtimes" | "clock">;

export async function launch(
  services: Needs,
  session: SessionState,
  action: Extract<Action, { do: "launch" }>,
): Promise<Outcome> {
  // Before anything is recorded: unreadable settings are not a crash of the agent.
  const id = asLaunchId(randomUUID());
  const env = await environmentFor(services, session, id);
  const program = services.programs.of(session);
  // A chat agent is prompted once its conversation is open; an agent that accepts no argument, once it is ready.
  const waiting = takesArgument(services, session, action.how)
    ? session.queue.find((prompt) => prompt.state === "queued")
    : undefined;
  const first = waiting === undefined ? null : promptToSend(services, session, waiting.promptId);
  // A prompt with an image is refused on delivery, like every other.
  const prompt = first === null || hasImage(first) ? null : typedPrompt(first);
  const begun = await services.store.commit(session.id, (now) =>
    now.intent.want === "running" && now.run.run !== "launching" && now.run.run !== "up"
      ? [
          { type: "launch.started", launch: id, how: action.how, attempt: action.attempt },
          // Recorded before it is passed as an argument: a crash from here on must not pass it twice.
          ...(prompt === null
            ? []
            : [{ type: "prompt.sending" as const, promptId: prompt.promptId, launch: id, mark: 0, argument: true }]),
          // A shell has no conversation to miss.
          ...(action.how === "fresh" && session.prompted && session.role !== "shell"
            ? [
                {
                  type: "notice" as const,
                  level: "warn" as const,
                  text: "This agent cannot resume a conversation; started a new one.",
                },
              ]
            : []),
          ...(program?.is === "found" && program.remembered !== null ? [fromMemory(program.remembered)] : []),
        ]
      : [],
  );
  if (begun.run.run !== "launching" || begun.run.launch !== id) return "done";
  await reach("launch.recorded", session.id);
  const request = { session: begun, launch: id, how: action.how, prompt, env };
  const result = await services.runtimes[session.kind].launch(request).catch(async (error: unknown) => {
    // The runtime could not be reached: no agent crashed, and the launch is retried.
    await record(services, session, [ended(services, begun, "lost", null, [])]);
    throw error;
  });
  await reach("launch.made", session.id);
  if (result.launched) {
    const { agent, agentSessionId, promptTaken, promptConfirmed = "never", starting = false } = result;
    const up = await services.store.commit(session.id, () => [
      // A chat agent's id is recorded as soon as its conversation is open.
      ...conversationKnown(services.store.session(session.id) ?? begun, agentSessionId),
      { type: "launch.up", launch: id, agent },
      ...(prompt === null ? [] : firstPrompt(prompt.promptId, promptTaken, promptConfirmed)),
    ]);
    await services.programs.remember(session);
    // The screen must be observed before anything is typed: it may show a permission request.
    if (up.kind !== "terminal" || up.queue.length > 0) return "done";
    const processes = [{ identity: agent, what: "agent", startedAt: startedAt(agent) ?? services.clock.now() }];
    const value = { launch: id, agent: { alive: true as const, identity: agent }, processes, agentSessionId };
    return {
      seen: { seen: { is: "known", value: { ...value, activity: null, starting, lastLines: [] } }, cause: null },
    };
  }
  const back = prompt === null ? [] : [requeued(prompt.promptId, "the agent did not start")];
  const resumed = { ...result, conversationGone: result.conversationGone && action.how === "resume" };
  if (mayRetry(session, result)) return launchFailed(services, session, id, resumed, back, true);
  if (result.died === true && isRelaunch(session)) return crashed(services, begun, resumed, back);
  return launchFailed(services, session, id, resumed, back);
}

function takesArgument(services: Pick<Services, "agents">, session: SessionState, how: "fresh" | "resume"): boolean {
  const terminal = session.kind === "chat" ? null : (services.agents.of(session)?.terminal ?? null);
  if (terminal === null) return false;
  return (how === "resume" && terminal.resume !== null ? terminal.resumePrompt : terminal.startPrompt) !== null;
}

/** A prompt passed at start is not read yet: a dialog may come first. One that the agent confirms later stays open. */
function firstPrompt(promptId: PromptId, taken: boolean, confirmed: "later" | "never"): FactEvent[] {
  if (!taken) return [requeued(promptId, "to be typed once the agent is ready")];
  return confirmed === "later" ? [] : [{ type: "prompt.sent", promptId, seenBy: "argument" }];
}

/** Takes over a launch of an earlier daemon, or one of this daemon that it could not record. */
export async function adopt(services: Needs, session: SessionState, seen: Observation): Promise<Outcome> {
  if (seen.seen.is !== "known" || !seen.seen.value.agent.alive) return "done";
  if (session.kind === "chat") return adoptChat(services, session, seen.seen.value.launch);
  const { launch, agent, agentSessionId, promptTaken = false, promptConfirmed = "never" } = seen.seen.value;
  const given =
    session.run.run === "launching" ? session.queue.find((prompt) => prompt.state === "sending") : undefined;
  return record(services, session, [
    ...conversationKnown(session, agentSessionId),
    { type: "launch.adopted", launch, agent: agent.identity },
    ...(given === undefined ? [] : firstPrompt(given.promptId, promptTaken, promptConfirmed)),
  ]);
}

/** A chat has started once its conversation is open: this continues the start of an earlier daemon. */
async function adoptChat(services: Needs, session: SessionState, launch: LaunchId): Promise<Outcome> {
  const how = session.run.run === "launching" ? session.run.how : "fresh";
  const env = await environmentFor(services, session, launch);
  const result = await services.runtimes.chat.launch({ session, launch, how, prompt: null, env });
  if (!result.launched) {
    // The user may have requested the first of several attempts, never the later ones.
    const again = session.run.run === "launching" && session.run.attempt > 1;
    if (again && couldNotStart(result.exit)) return launchFailed(services, session, launch, result, [], true);
    return result.died === true && again
      ? crashed(services, session, result)
      : launchFailed(services, session, launch, result);
  }
  const { agent, agentSessionId } = result;
  return record(services, session, [
    ...conversationKnown(session, agentSessionId),
    { type: "launch.adopted", launch, agent },
  ]);
}

/** npm replaces programs file by file: a program that cannot start now may start in a minute. The caller awaits the first launch. */
function mayRetry({ run }: SessionState, { exit }: Extract<LaunchResult, { launched: false }>): boolean {
  return couldNotStart(exit) && run.run !== "none";
}

function fromMemory(path: string): FactEvent {
  const text =
    `The agent's program is not on the daemon's PATH; starting ${path} from its last launch. ` +
    "To use another program, run `holdfast restart` in a shell that finds it.";
  return { type: "notice", level: "warn", text };
}

/** Counts toward the crash budget: one exit during a relaunch does not fail the session. */
async function crashed(
  services: Pick<Services, "store" | "clock">,
  launching: SessionState,
  { exit, lastLines }: Extract<LaunchResult, { launched: false }>,
  more: FactEvent[] = [],
): Promise<"done"> {
  return record(services, launching, [ended(services, launching, "crash", exit, lastLines), ...more]);
}

async function launchFailed(
  services: Pick<Services, "store">,
  session: SessionState,
  launch: LaunchId,
  { reason, lastLines, conversationGone }: Extract<LaunchResult, { launched: false }>,
  more: FactEvent[] = [],
  retry = false,
): Promise<"done"> {
  const why = `the agent no longer has this conversation: ${reason}`;
  return record(services, session, [
    { type: "launch.failed", launch, reason, lastLines, ...(retry ? { retry: true as const } : {}) },
    ...more,
    ...(conversationGone ? [{ type: "context.reset" as const, reason: why, previous: session.agentSessionId }] : []),
  ]);
}

/** @param launch null for a command of the agent other than a launch. */
export async function environmentFor(
  services: EnvironmentServices,
  session: SessionState,
  launch: LaunchId | null,
): Promise<Record<string, string>> {
  const { env, passEnv } = await services.settings.forSession(session.project);
  const lost = services.settings.lostEnv(session.project);
  if (lost.length > 0) {
    // Without these values the agent would use another account, or no proxy.
    throw new HoldfastError(
      "invalid",
      `The values of ${lost.join(", ")} are in the configuration of ${session.project}, which cannot be read.`,
      {
        hint: "Fix the file; the session starts then. Show the line: holdfast doctor",
      },
    );
  }
  const program = services.programs.of(session);
  return {
    ...passedOn(process.env, passEnv),
    ...env,
    ...services.agents.of(session)?.env,
    // Adds the folder in which its program was last found, if no other folder has it.
    ...(program?.is === "found" && program.remembered !== null ? { PATH: program.path } : {}),
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: services.home,
    ...(launch === null ? {} : await accessOf(services, session, launch)),
  };
}

/** A shell session acts as the user, and connects where the user does. */
async function accessOf(
  services: EnvironmentServices,
  session: SessionState,
  launch: LaunchId,
): Promise<Record<string, string>> {
  if (isShellSession(services, session)) return {};
  const capability = await services.capabilities.of({ session: session.id, launch });
  return { [socketVariable]: services.agentsSocket, [capabilityVariable]: capability };
}
