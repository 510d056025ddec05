/** What a spawn would meet, asked before it: the same checks, all of them, and nothing is made or counted. */
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
import { containmentFor } from "./spawn-contain.ts";
import { agentFor, idOfIssue, limitOf, lowDisk, missingTools, sessionOfIssue, settingsOf, wanted } from "./spawn.ts";

type Problem = PreflightJson["problems"][number];

export async function preflight(
  parts: Services,
  ask: ApiRequest<"preflight">,
  readOnly: boolean,
): Promise<PreflightJson> {
  const request = ask.input;
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
  const settings = await attempt(() => settingsOf(parts, request.project));
  if (settings === null) {
    const { agent = null, kind = "terminal", branch = null, base = null } = request;
    return { problems, branch, base, id: null, agent, kind };
  }
  const { role, kind, agent } = wanted(settings, request);
  const existing = request.resume === true ? await attempt(() => sessionOfIssue(parts, settings, request.issue)) : null;
  if (existing !== null) {
    const { id, branch, base } = existing;
    return { problems, branch, base, id, agent: existing.agent, kind: existing.kind };
  }
  // By its form alone: what a number is, its tracker tells the spawn.
  if (isPullRequestReference(request.issue ?? "")) {
    problems.push({ message: `${request.issue} is a pull request, not an issue.`, hint: null });
  }
  const definition = await attempt(() => agentFor(parts, settings, agent, kind));
  await attempt(() => refuseIssueInShell(parts, settings, request, { role, kind, agent }));
  await attempt(() => limitOf(parts, settings, role, null));
  const contain = (await attempt(() => containmentFor(parts, settings, request, ask.actor))) ?? settings.contain;
  const found = await checkPlace(parts, settings, { ...request, role, kind }, attempt);
  const sentences = [
    ...(definition === null || contain.mode === "devcontainer" ? [] : missingTools(definition, kind, settings.env)),
    ...(await parts.runtimes[kind].preflight()),
    ...lowDisk(parts),
    ...(await parts.contain.preflight({ contain }, settings.path)),
    ...found.problems,
  ];
  problems.push(...[...new Set(sentences)].map(asProblem));
  const base = request.base ?? settings.defaultBranch;
  return { problems, branch: found.branch, base, id: found.id, agent, kind };
}

/** A number is given when the session is made; until then the id, and a branch named after it, are not known. */
async function checkPlace(
  parts: Services,
  settings: ProjectSettings,
  request: SpawnRequest & { role: string; kind: Kind },
  attempt: <T>(check: () => T | Promise<T>) => Promise<T | null>,
): Promise<{ id: SessionId | null; branch: string | null; problems: string[] }> {
  const named = request.issue !== undefined && request.role === "worker";
  // The tracker is not asked here: its issue's title, and with it the branch, is known when the session is made.
  const key = request.issue === undefined || settings.tracker === null ? null : issueKey(request.issue);
  const { id, again } = named
    ? idOfIssue(parts, settings, key ?? request.issue!, null)
    : { id: unusedId(parts, settings), again: 1 };
  const automatic = branchFor({ session: id, issue: request.issue ?? null, title: request.name ?? null, again });
  const branch = request.branch ?? (await attempt(() => parts.workspaces.freeBranch(settings.path, automatic)));
  if (branch === null) return { id: named ? id : null, branch: null, problems: [] };
  const place = { id, branch, base: request.base ?? "", workspacePath: workspacePath(parts, settings.id, id) };
  const problems = (await attempt(() => parts.workspaces.preflight(planWith(settings, place)))) ?? [];
  const isKnown = request.branch !== undefined || (request.issue !== undefined && key === null);
  return { id: named ? id : null, branch: isKnown ? branch : null, problems };
}

function unusedId(parts: Services, settings: ProjectSettings): SessionId {
  let number = parts.store.sessions().length + 1;
  while (parts.store.wasUsed(`${settings.prefix}-${number}`)) number++;
  return asSessionId(`${settings.prefix}-${number}`);
}

/** The checks of a spawn speak in sentences: what is wrong, then what to do. */
function asProblem(text: string): Problem {
  const cut = /\.\s+(?=\S)/.exec(text);
  if (cut === null) return { message: text, hint: null };
  return { message: text.slice(0, cut.index + 1), hint: text.slice(cut.index + cut[0].length) };
}
