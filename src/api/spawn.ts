/** `spawn`: runs every check first, records the session, and lets the loop create it. */
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent } from "../contract/event.ts";
import { asPromptId, asSessionId, type SessionId } from "../contract/ids.ts";
import type { SessionJson } from "../contract/session.ts";
import { whyDefaults } from "../contract/trust.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import type { Verb } from "../model/lifecycle.ts";
import { branchFor } from "../model/names.ts";
import { orchestratorInstructions, wantsToRun } from "../model/roles.ts";
import { isLive } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { takenIds } from "../supervisor/unrecorded.ts";
import { sessionJson } from "../supervisor/view.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { planWith, workspacePath } from "../supervisor/worktrees.ts";
import { clampSpawn, refuseIssueInShell } from "./authorize.ts";
import type { Halt } from "./halt.ts";
import { preflight } from "./preflight.ts";
import {
  agentFor,
  checkLimits,
  containedBranch,
  containmentFor,
  idOfIssue,
  missingTools,
  lowDisk,
  PendingSpawns,
  requested,
  sessionOfIssue,
  settingsOf,
} from "./spawn-checks.ts";
import { readIssue } from "./spawn-issue.ts";

interface Spawner {
  services: Services;
  loop: Loop;
  tracking: LazyTracking;
  pending: PendingSpawns;
}

export function spawnHandlers(
  services: Services,
  loop: Loop,
  { tracking, halt, readOnly }: { tracking: LazyTracking; halt: Halt; readOnly: boolean },
): Handlers<"spawn" | "spawning" | "preflight"> {
  const pending = new PendingSpawns();
  return {
    spawn: async (request) => {
      if (halt.isOn) throw new HoldfastError("conflict", "The sessions are being stopped; nothing new is started.");
      return spawn({ services, loop, tracking, pending }, request);
    },
    spawning: ({ params }) => ({ session: pending.awaited(params.id) }),
    preflight: (request) => preflight(services, request, readOnly),
  };
}

async function spawn(spawner: Spawner, request: ApiRequest<"spawn">): Promise<SessionJson> {
  const { services, tracking, pending } = spawner;
  const { actor } = request;
  const settings = await settingsOf(services, request.input.project);
  const { role, kind, agent } = requested(settings, request.input);
  const input = { ...clampSpawn(services, request.input, { role, agent }, actor), role };
  const existing = input.resume === true ? sessionOfIssue(services, settings, input.issue) : null;
  if (existing !== null) return resume(spawner, existing, request);

  const definition = agentFor(services, settings, agent, kind);
  refuseIssueInShell(services, settings, input, { role, kind, agent });
  const contain = containmentFor(services, settings, input, actor);
  checkLimits(services, settings, role, pending);
  using reserved = pending.enter(settings.id, role);

  const issue = await readIssue(tracking, settings, input);
  const { id, again } = await newId(spawner, settings, issue.key, role);
  reserved.choose(id);
  const title = input.name ?? issue.title;
  const automatic = branchFor({ session: id, issue: issue.key, title, again });
  const own = { id, asked: input.branch, issue: issue.key, title };
  const created = {
    id,
    branch:
      contain.mode !== "off"
        ? await containedBranch(services, settings, own)
        : (input.branch ?? (await services.workspaces.freeBranch(settings.path, automatic))),
    base: input.base ?? "",
    workspacePath: workspacePath(services, settings.id, id),
  };
  // In a container the agent's program is the image's.
  const missingPrograms = contain.mode === "devcontainer" ? [] : missingTools(definition, kind, settings.env);
  const problems = [
    ...missingPrograms.map(({ message }) => message),
    ...(await services.runtimes[kind].preflight()),
    ...lowDisk(services),
    ...(await services.contain.preflight({ contain }, settings.path)),
    ...(await services.workspaces.preflight(planWith(settings, created))),
  ];
  if (problems.length > 0) {
    throw new HoldfastError("preflight-failed", problems.join("\n"), {
      hint: "Nothing was created.",
      details: { missingPrograms },
    });
  }

  const text = firstPrompt(settings, id, role, issue.prompt ?? "");
  const promptId = asPromptId(`${id}-first`);
  const admitted: FactEvent[] = text === "" ? [] : [{ type: "prompt.admitted", promptId, text, by: actor }];
  const why = whyDefaults(settings.id, settings.trust.state);
  const untrusted: FactEvent[] = why === null ? [] : [{ type: "notice", level: "warn", text: why }];
  const state = await services.store.create(
    {
      type: "session.created",
      ...created,
      project: settings.id,
      kind,
      role,
      agent,
      title: title ?? issue.key ?? firstLine(request.input.prompt) ?? id,
      issue: issue.key,
      branchCreated: false,
      ...(contain.mode === "off" ? {} : { contain }),
      by: actor,
    },
    [...untrusted, ...issue.events, ...admitted],
  );
  reserved[Symbol.dispose]();
  return respond(spawner, state, request);
}

/** Reuses an issue's session by the user's own verbs: a prompt wakes it, else `restore` does, unless it runs. */
async function resume(spawner: Spawner, session: SessionState, request: ApiRequest<"spawn">): Promise<SessionJson> {
  const { prompt: text = "" } = request.input;
  const promptId = asPromptId(`${session.id}-${session.seq}`);
  const isRunning = wantsToRun(session) && isLive(session.run);
  const verb: Verb | null = text !== "" ? { verb: "prompt", promptId, text } : isRunning ? null : { verb: "restore" };
  const { services, loop } = spawner;
  const state = verb === null ? session : await commitVerb(services, loop, session, verb, request.actor);
  return respond(spawner, state, request);
}

async function respond(
  { services, loop, pending }: Spawner,
  state: SessionState,
  { input, requestId, signal }: ApiRequest<"spawn">,
): Promise<SessionJson> {
  loop.asked(state.id);
  if (input.wait === false) return sessionJson(services, loop, state);
  using _awaited = pending.await(requestId, state.id);
  return await waitUntilUp(services, loop, state, signal);
}

/** An orchestrator gets its instructions before the user's task. */
function firstPrompt(settings: ProjectSettings, id: string, role: SessionState["role"], task: string): string {
  if (role !== "orchestrator") return task;
  const { id: project, defaultBranch, tracker } = settings;
  const instructions = orchestratorInstructions({ id, project, defaultBranch, tracker: tracker?.repo ?? null });
  return task === "" ? instructions : `${instructions}\nThe user's task:\n\n${task}`;
}

async function newId(
  { services, pending }: Spawner,
  settings: ProjectSettings,
  issue: string | null,
  role: SessionState["role"],
): Promise<{ id: SessionId; again: number }> {
  const isTaken = await takenIds(services, settings.id);
  if (issue !== null && role === "worker") return idOfIssue(services, settings, issue, pending, isTaken);
  for (;;) {
    const id = asSessionId(`${settings.prefix}-${await services.store.nextNumber(settings.prefix)}`);
    if (!isTaken(id)) return { id, again: 1 };
  }
}

function firstLine(prompt = ""): string | undefined {
  const line = prompt.split("\n").find((text) => text.trim() !== "");
  return line?.trim().slice(0, 80);
}
