/** Runs all checks of a spawn and reports every problem, without creating or counting anything. */
import type { ApiRequest } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asSessionId, type Kind, type SessionId } from "../contract/ids.ts";
import type { PreflightJson } from "../contract/spawn.ts";
import { isPullRequestReference, issueKey } from "../model/issue.ts";
import { branchFor } from "../model/names.ts";
import { refuseIssueInShell } from "./authorize.ts";
import type { Services } from "../supervisor/services.ts";
import { planWith, workspacePath } from "../supervisor/worktrees.ts";
import {
  agentFor,
  checkLimits,
  containmentFor,
  idOfIssue,
  lowDisk,
  missingTools,
  requested,
  sessionOfIssue,
  settingsOf,
} from "./spawn-checks.ts";

type Problem = PreflightJson["problems"][number];

export async function preflight(
  services: Services,
  { input: request, actor }: ApiRequest<"preflight">,
  readOnly: boolean,
): Promise<PreflightJson> {
  const problems: Problem[] = readOnly
    ? [{ message: "This daemon is read-only: nothing can be started.", hint: null }]
    : [];
  const attempt = async <T>(check: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      problems.push({ message: error.message, hint: error.hint });
      return null;
    }
  };
  const settings = await attempt(() => settingsOf(services, request.project));
  if (settings === null) {
    const { agent = null, kind = "terminal", branch = null, base = null } = request;
    return { problems, branch, base, id: null, agent, kind };
  }
  const { role, kind, agent } = requested(settings, request);
  const existing =
    request.resume === true ? await attempt(() => sessionOfIssue(services, settings, request.issue)) : null;
  if (existing !== null) {
    const { id, branch, base } = existing;
    return { problems, branch, base, id, agent: existing.agent, kind: existing.kind };
  }
  // By its form alone: only the tracker knows what a number is, and the spawn asks it.
  if (isPullRequestReference(request.issue ?? "")) {
    problems.push({ message: `${request.issue} is a pull request, not an issue.`, hint: null });
  }
  const definition = await attempt(() => agentFor(services, settings, agent, kind));
  await attempt(() => refuseIssueInShell(services, settings, request, { role, kind, agent }));
  await attempt(() => checkLimits(services, settings, role, null));
  const contain = (await attempt(() => containmentFor(services, settings, request, actor))) ?? settings.contain;
  const found = await checkWorktree(services, settings, { ...request, role, kind }, attempt);
  const sentences = [
    ...(definition === null || contain.mode === "devcontainer"
      ? []
      : missingTools(definition, kind, settings.env).map(({ message }) => message)),
    ...(await services.runtimes[kind].preflight()),
    ...lowDisk(services),
    ...(await services.contain.preflight({ contain }, settings.path)),
    ...found.problems,
  ];
  problems.push(...[...new Set(sentences)].map(asProblem));
  const base = request.base ?? settings.defaultBranch;
  return { problems, branch: found.branch, base, id: found.id, agent, kind };
}

/** The number is assigned when the session is created; until then its id, and a branch named after it, are unknown. */
async function checkWorktree(
  services: Services,
  settings: ProjectSettings,
  request: SpawnRequest & { role: string; kind: Kind },
  attempt: <T>(check: () => T | Promise<T>) => Promise<T | null>,
): Promise<{ id: SessionId | null; branch: string | null; problems: string[] }> {
  const named = request.issue !== undefined && request.role === "worker";
  // The tracker is not queried here: the issue's title, and with it the branch, is only known to the spawn.
  const key = request.issue === undefined || settings.tracker === null ? null : issueKey(request.issue);
  const { id, again } = named
    ? idOfIssue(services, settings, key ?? request.issue!, null)
    : { id: unusedId(services, settings), again: 1 };
  const automatic = branchFor({ session: id, issue: request.issue ?? null, title: request.name ?? null, again });
  const branch = request.branch ?? (await attempt(() => services.workspaces.freeBranch(settings.path, automatic)));
  if (branch === null) return { id: named ? id : null, branch: null, problems: [] };
  const created = { id, branch, base: request.base ?? "", workspacePath: workspacePath(services, settings.id, id) };
  const problems = (await attempt(() => services.workspaces.preflight(planWith(settings, created)))) ?? [];
  const isKnown = request.branch !== undefined || (request.issue !== undefined && key === null);
  return { id: named ? id : null, branch: isKnown ? branch : null, problems };
}

function unusedId(services: Services, settings: ProjectSettings): SessionId {
  let number = services.store.sessions().length + 1;
  while (services.store.wasUsed(`${settings.prefix}-${number}`)) number++;
  return asSessionId(`${settings.prefix}-${number}`);
}

/** The checks return sentences: the problem, then what to do. */
function asProblem(text: string): Problem {
  const cut = /\.\s+(?=\S)/.exec(text);
  if (cut === null) return { message: text, hint: null };
  return { message: text.slice(0, cut.index + 1), hint: text.slice(cut.index + cut[0].length) };
}
