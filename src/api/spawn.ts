/** `spawn`: everything that can be checked is checked first; then the session is on record; then the loop makes it so. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findLaunchable, findProgram } from "../base/find-program.ts";
import type { AgentDefinition } from "../ports/agents.ts";
import type { ApiRequest } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent } from "../contract/event.ts";
import { notOnPath } from "../model/runs.ts";
import { asPromptId, asSessionId, type Kind, type SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { isOff, whyDefaults } from "../contract/trust.ts";
import type { SessionJson } from "../contract/session.ts";
import type { Verb } from "../model/lifecycle.ts";
import { isIssueOf, teamOf } from "../model/issue.ts";
import { orchestratorInstructions, orchestratorOf, wantsToRun } from "../model/roles.ts";
import { branchFor, slug } from "../model/names.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { SpawnIssue } from "./spawn-issue.ts";
import type { PendingSpawns } from "./pending-spawns.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import type { Services } from "../supervisor/services.ts";
import { planWith, workspacePath } from "../supervisor/worktrees.ts";
import { commandOf, pathFor, whyMissing } from "../supervisor/programs.ts";
import { clampSpawn, refuseIssueInShell } from "./authorize.ts";
import { commitVerb, refuseBeside } from "../supervisor/apply-verb.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { containedBranch, containmentFor } from "./spawn-contain.ts";
import { takenIds } from "../supervisor/unrecorded.ts";
import { sessionJson } from "../supervisor/view.ts";

/** Below this a checkout is likely to fail half-way, and the database with it. */
const minFreeBytes = 200 * 1024 * 1024;

export async function spawn(
  parts: Services,
  loop: Loop,
  door: LazyTracking,
  pending: PendingSpawns,
  ask: ApiRequest<"spawn">,
): Promise<SessionJson> {
  const asked = ask.input;
  const settings = await settingsOf(parts, asked.project);
  const { role, kind, agent } = wanted(settings, asked);
  const request = { ...clampSpawn(parts, asked, { role, agent }, ask.actor), role };
  const existing = request.resume === true ? sessionOfIssue(parts, settings, request.issue) : null;
  if (existing !== null) return resume(parts, loop, pending, existing, ask);

  const definition = agentFor(parts, settings, agent, kind);
  refuseIssueInShell(parts, settings, request, { role, kind, agent });
  const contain = containmentFor(parts, settings, request, ask.actor);
  limitOf(parts, settings, role, pending);
  using place = pending.enter(settings.id, role);

  const issue = request.issue === undefined ? noIssue(request) : await readIssueOf(door, settings, request);
  const { id, again } = await newId(parts, settings, issue.key ?? undefined, role, pending);
  place.choose(id);
  const title = request.name ?? issue.title;
  const automatic = branchFor({ session: id, issue: issue.key, title, again });
  const own = { id, asked: request.branch, issue: issue.key, title };
  const created = {
    id,
    branch:
      contain.mode !== "off"
        ? await containedBranch(parts, settings, own)
        : (request.branch ?? (await parts.workspaces.freeBranch(settings.path, automatic))),
    base: request.base ?? "",
    workspacePath: workspacePath(parts, settings.id, id),
  };
  const problems = [
    // In a container the agent's program is the image's.
    ...(contain.mode === "devcontainer" ? [] : missingTools(definition, kind, settings.env)),
    ...(await parts.runtimes[kind].preflight()),
    ...lowDisk(parts),
    ...(await parts.contain.preflight({ contain }, settings.path)),
    ...(await parts.workspaces.preflight(planWith(settings, created))),
  ];
  if (problems.length > 0) {
    throw new HoldfastError("preflight-failed", problems.join("\n"), { hint: "Nothing was created." });
  }

  const prompt = firstPrompt(settings, id, role, issue.prompt ?? "");
  const admitted: FactEvent[] =
    prompt === ""
      ? []
      : [{ type: "prompt.admitted", promptId: asPromptId(`${id}-first`), text: prompt, by: ask.actor }];
  const why = whyDefaults(settings.id, settings.trust.state);
  const untrusted: FactEvent[] = why === null ? [] : [{ type: "notice", level: "warn", text: why }];
  const state = await parts.store.create(
    {
      type: "session.created",
      ...created,
      project: settings.id,
      kind,
      role,
      agent,
      title: title ?? issue.key ?? firstLine(asked.prompt) ?? id,
      issue: issue.key,
      branchCreated: false,
      ...(contain.mode === "off" ? {} : { contain }),
      by: ask.actor,
    },
    [...untrusted, ...issue.events, ...admitted],
  );
  place[Symbol.dispose]();
  loop.asked(id);
  if (request.wait === false) return sessionJson(parts, loop, state);
  using _awaited = pending.await(ask.requestId, id);
  return await waitUntilUp(parts, loop, state, ask.signal);
}

function noIssue({ prompt }: SpawnRequest): SpawnIssue {
  return { key: null, title: null, prompt: prompt === undefined || prompt === "" ? null : prompt, events: [] };
}

/** Loaded when an issue is named: a spawn without one asks nobody. */
async function readIssueOf(door: LazyTracking, settings: ProjectSettings, request: SpawnRequest): Promise<SpawnIssue> {
  return (await import("./spawn-issue.ts")).readIssue(door, settings, request);
}

/** What is asked for, and where nothing is, what the project says. */
export function wanted(
  settings: ProjectSettings,
  request: SpawnRequest,
): { role: SessionState["role"]; kind: Kind; agent: string } {
  const agent = request.role === "shell" ? "shell" : (request.agent ?? settings.agent);
  // An agent that is a shell and a role that is one are the same thing: no issue and no reaction is typed there.
  const role = agent === "shell" && request.role === undefined ? "shell" : (request.role ?? "worker");
  if (role === "shell")
    return { role, kind: (request.role === undefined ? request.kind : undefined) ?? "terminal", agent };
  return { role, kind: request.kind ?? settings.kind, agent };
}

/** Throws where the project has as many as it may have. */
export function limitOf(
  parts: Services,
  settings: ProjectSettings,
  role: SessionState["role"],
  pending: PendingSpawns | null,
): void {
  const begun = pending?.of(settings.id) ?? [];
  if (role === "orchestrator") refuseSecondOrchestrator(parts, settings.id, begun);
  const running = parts.store.sessions().filter((session) => session.project === settings.id && wantsToRun(session));
  const count = running.length + begun.length;
  if (settings.maxSessions !== null && count >= settings.maxSessions) {
    throw new HoldfastError("conflict", `${settings.id} already runs ${count} sessions, its maxSessions.`, {
      hint: "Stop one (holdfast session stop <id>) or raise maxSessions in holdfast.yaml.",
    });
  }
}

export async function settingsOf(parts: Services, project: string): Promise<ProjectSettings> {
  const row = parts.store.projects().find(({ id }) => id === project);
  if (row !== undefined) return parts.settings.read(row);
  const known = parts.store.projects().map(({ id }) => id);
  throw new HoldfastError("not-found", `Unknown project: ${project}`, {
    hint:
      known.length === 0
        ? "No project is registered yet: run `holdfast init` or `holdfast project add <path>` in a repository."
        : `Registered projects: ${known.join(", ")}.`,
  });
}

export function agentFor(parts: Services, settings: ProjectSettings, id: string, kind: Kind): AgentDefinition {
  const definition = parts.agents.of({ project: settings.id, agent: id });
  if (definition === null) {
    const known = parts.agents
      .list(settings.id)
      .map((agent) => agent.id)
      .join(", ");
    const untrusted = isOff(settings.trust.state)
      ? ` The project's holdfast.yaml, which may define it, is not trusted: holdfast project trust ${settings.id}`
      : "";
    throw new HoldfastError("invalid", `Unknown agent: ${id}`, { hint: `Known agents: ${known}.${untrusted}` });
  }
  if (definition[kind] === null) {
    throw new HoldfastError("invalid", `${definition.label} has no ${kind} kind.`, {
      hint: `Try --kind ${kind === "chat" ? "terminal" : "chat"}.`,
    });
  }
  return definition;
}

/** An orchestrator is told its trade before what the person wants. */
function firstPrompt(settings: ProjectSettings, id: string, role: SessionState["role"], asked: string): string {
  if (role !== "orchestrator") return asked;
  const { id: project, defaultBranch, tracker } = settings;
  const told = orchestratorInstructions({ id, project, defaultBranch, tracker: tracker?.repo ?? null });
  return asked === "" ? told : `${told}\nThe person says:\n\n${asked}`;
}

function refuseSecondOrchestrator(
  parts: Services,
  project: string,
  begun: readonly { role: SessionState["role"] }[],
): void {
  refuseBeside(orchestratorOf(parts.store.sessions(), project));
  if (!begun.some((spawn) => spawn.role === "orchestrator")) return;
  throw new HoldfastError("conflict", `An orchestrator of ${project} is being started.`, {
    hint: "See it with holdfast session ls --all.",
  });
}

async function newId(
  parts: Services,
  settings: ProjectSettings,
  issue: string | undefined,
  role: SessionState["role"],
  pending: PendingSpawns,
): Promise<{ id: SessionId; again: number }> {
  const isTaken = await takenIds(parts, settings.id);
  if (issue !== undefined && role === "worker") return idOfIssue(parts, settings, issue, pending, isTaken);
  for (;;) {
    const id = asSessionId(`${settings.prefix}-${await parts.store.nextNumber(settings.prefix)}`);
    if (!isTaken(id)) return { id, again: 1 };
  }
}

export function idOfIssue(
  parts: Services,
  settings: ProjectSettings,
  issue: string,
  pending: PendingSpawns | null,
  isTaken: (id: string) => boolean = () => false,
): { id: SessionId; again: number } {
  const first = `${settings.prefix}-${slug(issue)}`;
  for (let again = 1; ; again++) {
    const id = again === 1 ? first : `${first}-${again}`;
    if (!parts.store.wasUsed(id) && !isTaken(id) && pending?.isChosen(id) !== true)
      return { id: asSessionId(id), again };
  }
}

export function sessionOfIssue(
  parts: Services,
  settings: ProjectSettings,
  issue: string | undefined,
): SessionState | null {
  if (issue === undefined) {
    throw new HoldfastError("usage", "--resume needs the issue whose session is to be taken up.", {
      hint: "For example: holdfast spawn my-app 123 --resume",
    });
  }
  const team = teamOf(settings.tracker);
  const candidates = parts.store
    .sessions()
    .filter((session) => session.project === settings.id && isIssueOf(session, issue, team))
    .toSorted((a, b) => a.createdAt - b.createdAt);
  const found = candidates.find((session) => session.intent.want !== "killed");
  const killed = candidates.at(-1);
  if (found !== undefined || killed === undefined) return found ?? null;
  throw new HoldfastError("conflict", `The session of ${issue}, ${killed.id}, was killed.`, {
    hint: `Bring it back with \`holdfast session restore ${killed.id}\`, or leave out --resume for a new one.`,
  });
}

/** By the verbs that a person has: a prompt wakes what is down, else `restore` does; what runs is left running. */
async function resume(
  parts: Services,
  loop: Loop,
  pending: PendingSpawns,
  session: SessionState,
  ask: ApiRequest<"spawn">,
): Promise<SessionJson> {
  const { prompt, wait } = ask.input;
  const text = prompt === undefined || prompt === "" ? null : prompt;
  const promptId = asPromptId(`${session.id}-${session.seq}`);
  const running = wantsToRun(session) && (session.run.run === "up" || session.run.run === "launching");
  const verb: Verb | null = text !== null ? { verb: "prompt", promptId, text } : running ? null : { verb: "restore" };
  const state = verb === null ? session : await commitVerb(parts, loop, session, verb, ask.actor);
  loop.asked(session.id);
  if (wait === false) return sessionJson(parts, loop, state);
  using _awaited = pending.await(ask.requestId, session.id);
  return await waitUntilUp(parts, loop, state, ask.signal);
}

/** @param env of the project: its PATH, or the agent's own, is where the agent's program is looked for. */
export function missingTools(definition: AgentDefinition, kind: Kind, env: ProjectSettings["env"]): string[] {
  const command = commandOf(definition, kind);
  const missing: string[] = [];
  const found = command === null ? null : findLaunchable(command, pathFor(definition, env));
  if (found?.is === "missing") {
    const { install } = kind === "chat" ? { ...definition, ...definition.chat } : definition;
    missing.push(found.neededBy === null ? `${whyMissing(found)}. ${install}` : `${whyMissing(found)}.`);
  }
  for (const tool of kind === "terminal" ? ["tmux", "git"] : ["git"]) {
    if (findProgram(tool, process.env["PATH"]) === null)
      missing.push(`${notOnPath(tool)}. Install it with your package manager.`);
  }
  return missing;
}

/** Nothing where the worktrees are on the same disk: the workspaces' own preflight reports it then. */
export function lowDisk({ home, worktrees }: Pick<Services, "home" | "worktrees">): string[] {
  let existing = worktrees;
  while (!existsSync(existing)) existing = dirname(existing);
  if (statSync(home).dev === statSync(existing).dev) return [];
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  return free >= minFreeBytes
    ? []
    : [
        `Only ${Math.round(free / 1024 / 1024)} MB are free on the disk of ${home}. Free some space, for example with \`holdfast trash empty\`.`,
      ];
}

function firstLine(prompt: string | undefined): string | undefined {
  const line = prompt
    ?.split("\n")
    .find((text) => text.trim() !== "")
    ?.trim()
    .slice(0, 80);
  return line === undefined || line === "" ? undefined : line;
}
