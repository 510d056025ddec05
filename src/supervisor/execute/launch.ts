/** Actions that begin a run, or find one begun: launch and adopt. */
import { crypto } from "../../base/digest.ts";
import { startedAt } from "../../base/pid.ts";
import { reach } from "../../base/test-points.ts";
import type { Action } from "../../model/facts.ts";
import { couldNotStart, isRelaunch } from "../../model/runs.ts";
import type { LaunchRequest, LaunchResult, Observation } from "../../ports/runtime.ts";
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
  const runtime = services.runtimes[session.kind];
  // Before anything is on record: what cannot be read is no crash of the agent.
  const id = asLaunchId(crypto().randomUUID());
  const env = await environmentFor(services, session, id);
  const program = services.programs.of(session);
  // A chat agent is prompted once its conversation is open, and one that takes no argument once it is ready.
  const waiting = takesArgument(services, session, action.how)
    ? session.queue.find((prompt) => prompt.state === "queued")
    : undefined;
  const first = waiting === undefined ? null : promptToSend(services, session, waiting.promptId);
  // One with an image is refused once the agent is up, where every prompt is.
  const prompt = first === null || hasImage(first) ? null : typedPrompt(first);
  const begun = await services.store.change(session.id, (now) =>
    now.intent.want === "running" && now.run.run !== "launching" && now.run.run !== "up"
      ? [
          { type: "launch.started", launch: id, how: action.how, attempt: action.attempt },
          // On record before it is given away as an argument: a crash from here on must not give it twice.
          ...(prompt === null
            ? []
            : [{ type: "prompt.sending" as const, promptId: prompt.promptId, launch: id, mark: 0, argument: true }]),
          // A shell has no conversation that could be missed.
          ...(action.how === "fresh" && session.prompted && session.role !== "shell"
            ? [
                {
                  type: "notice" as const,
                  level: "warn" as const,
                  text: "This agent cannot resume its conversation; it started a new one.",
                },
              ]
            : []),
          ...(program?.is === "found" && program.remembered !== null ? [fromMemory(program.remembered)] : []),
        ]
      : [],
  );
  if (begun.run.run !== "launching" || begun.run.launch !== id) return "done";
  await reach("launch.recorded", session.id);
  const request: LaunchRequest = {
    session: begun,
    launch: id,
    how: action.how,
    prompt,
    env,
  };
  const result = await runtime.launch(request).catch(async (error: unknown) => {
    // The runtime could not be reached: nobody crashed, and it is tried again.
    await record(services, session, [ended(services, begun, "lost", null, [])]);
    throw error;
  });
  await reach("launch.made", session.id);
  if (result.launched) {
    const { agent, agentSessionId, promptTaken, promptConfirmed = "never", starting = false } = result;
    const up = await services.store.change(session.id, () => [
      // A chat agent's id is on record as soon as its conversation is open.
      ...conversationKnown(services.store.session(session.id) ?? begun, agentSessionId),
      { type: "launch.up", launch: id, agent },
      ...(prompt === null ? [] : firstPrompt(prompt.promptId, promptTaken, promptConfirmed)),
    ]);
    await services.programs.remember(session);
    // Before anything is typed the screen has to be seen: it may show a question.
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

/** Given with the start is not read yet: a dialog may stand before it. One that the agent confirms later stays open. */
function firstPrompt(promptId: PromptId, taken: boolean, confirmed: "later" | "never"): FactEvent[] {
  if (!taken) return [requeued(promptId, "to be typed once the agent is ready")];
  return confirmed === "later" ? [] : [{ type: "prompt.sent", promptId, seenBy: "argument" }];
}

/** The launch was made by an earlier daemon, or by this one before it could write so down. */
export async function adopt(services: Needs, session: SessionState, seen: Observation): Promise<Outcome> {
  if (seen.seen.is !== "known" || !seen.seen.value.agent.alive) return "done";
  if (session.kind === "chat") return takeUpChat(services, session, seen.seen.value.launch);
  const { launch, agent, agentSessionId, promptTaken = false, promptConfirmed = "never" } = seen.seen.value;
  const given =
    session.run.run === "launching" ? session.queue.find((prompt) => prompt.state === "sending") : undefined;
  return record(services, session, [
    ...conversationKnown(session, agentSessionId),
    { type: "launch.adopted", launch, agent: agent.identity },
    ...(given === undefined ? [] : firstPrompt(given.promptId, promptTaken, promptConfirmed)),
  ]);
}

/** A chat's start is over when its conversation is open: what an earlier daemon began is taken up where it stands. */
async function takeUpChat(services: Needs, session: SessionState, launch: LaunchId): Promise<Outcome> {
  const how = session.run.run === "launching" ? session.run.how : "fresh";
  const env = await environmentFor(services, session, launch);
  const result = await services.runtimes.chat.launch({ session, launch, how, prompt: null, env });
  if (!result.launched) {
    // The first of several attempts may have been asked for; the others were not.
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

/** npm replaces programs file by file: one that cannot be started now can be in a minute. The first launch is waited for. */
function mayRetry({ run }: SessionState, { exit }: Extract<LaunchResult, { launched: false }>): boolean {
  return couldNotStart(exit) && run.run !== "none";
}

function fromMemory(path: string): FactEvent {
  const text =
    `The agent's program is not on the daemon's PATH; Holdfast starts ${path}, where it was before. ` +
    "To use another one, run `holdfast restart` in a shell that finds it.";
  return { type: "notice", level: "warn", text };
}

/** Counted by the crash budget: one exit on the way back up is no reason to give a session up. */
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

/** @param launch null for a command of the agent that is no launch of it. */
export async function environmentFor(
  services: EnvironmentServices,
  session: SessionState,
  launch: LaunchId | null,
): Promise<Record<string, string>> {
  const { env, passEnv } = await services.settings.forSession(session.project);
  const lost = services.settings.lostEnv(session.project);
  if (lost.length > 0) {
    // Without them it would be another agent: with another account, or without its proxy.
    throw new HoldfastError(
      "invalid",
      `The values of ${lost.join(", ")} are in the configuration of ${session.project}, which cannot be read.`,
      {
        hint: "Correct the file: holdfast doctor shows the line. The session starts then.",
      },
    );
  }
  const program = services.programs.of(session);
  return {
    ...passedOn(process.env, passEnv),
    ...env,
    ...services.agents.of(session)?.env,
    // With the folder that its program was last found in, where it is in none of the others.
    ...(program?.is === "found" && program.remembered !== null ? { PATH: program.path } : {}),
    HOLDFAST_SESSION: session.id,
    HOLDFAST_PROJECT: session.project,
    HOLDFAST_ROLE: session.role,
    HOLDFAST_HOME: services.home,
    ...(launch === null ? {} : await doorOf(services, session, launch)),
  };
}

/** A shell is the person, and asks where the person does. */
async function doorOf(
  services: EnvironmentServices,
  session: SessionState,
  launch: LaunchId,
): Promise<Record<string, string>> {
  if (isShellSession(services, session)) return {};
  const capability = await services.capabilities.of({ session: session.id, launch });
  return { [socketVariable]: services.agentsSocket, [capabilityVariable]: capability };
}
