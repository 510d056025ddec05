/** What a code host is asked about sessions: by branch and number in its own repository, by address in any other. */
import type { ProjectSettings } from "../../ports/projects.ts";
import type { Asked, CodeHost, PullRequestQuestion, Tracker } from "../../ports/tracker.ts";
import type { SessionState } from "../../model/session.ts";
import type { PullRequestFacts, SeenPullRequest } from "../../contract/tracker.ts";
import { isElsewhere, isTaken } from "./tracker-record.ts";

/** @param branch the one that the session is on now. */
export function questionOf(
  session: SessionState,
  branch: string,
  settings: ProjectSettings,
  fresh: boolean,
): PullRequestQuestion[] {
  const open = openOf(session);
  const repo = settings.codeHost?.repo ?? "";
  const numbers = open.filter((one) => !isElsewhere(one, repo)).map(({ facts }) => facts.number);
  // Whatever comes from a default branch is somebody else's.
  if (branch === settings.defaultBranch && open.length === 0) return [];
  return [{ key: session.id, branch, numbers, ...(fresh ? { fresh } : {}) }];
}

/** One question for all of the repository's; what was claimed from elsewhere is rare, and asked for by its address. */
export async function askAll(
  tracker: Tracker,
  host: CodeHost,
  members: readonly { session: SessionState }[],
  questions: readonly PullRequestQuestion[],
): Promise<Map<string, Asked<PullRequestFacts[]>>> {
  const answers = await host.pullRequests(questions);
  for (const { session } of members) {
    const answer = answers.get(session.id);
    if (answer?.is !== "known") continue;
    const value = [...answer.value];
    for (const { facts } of openOf(session).filter((one) => isElsewhere(one, tracker.settings.repo))) {
      const one = await host.pullRequest(facts.url);
      // What was not said is as it was.
      if (one.is !== "absent") value.push(one.is === "known" ? one.value : facts);
    }
    answers.set(session.id, { is: "known", value });
  }
  return answers;
}

/**
 * What a repository is called now, where that is another name than the settings have; it is followed there at the price of a
 * redirect each time, until somebody else takes the old name.
 */
export function renamedTo(heard: readonly SessionState[], repo: string): string | null {
  // What is not open is not asked for any more, so that its name may be an old one.
  const found = heard
    .flatMap((session) => openOf(session))
    .find(
      ({ claimed, lost, facts }) =>
        !claimed && lost === null && facts.state === "open" && facts.repo.toLowerCase() !== repo.toLowerCase(),
    );
  return found?.facts.repo ?? null;
}

/** What may still change. */
function openOf({ pullRequests = [] }: SessionState): SeenPullRequest[] {
  return pullRequests.filter(({ facts, lost }) => facts.state !== "merged" && !isTaken(lost));
}
