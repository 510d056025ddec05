/** Trackers, and linking pull requests to sessions. */
import { finding, type FindingJson } from "../contract/daemon.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { SessionJson } from "../contract/session.ts";
import type { TrackerJson } from "../contract/tracker.ts";
import { requireCodeHost, type LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import type { SessionState } from "../model/session.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { sessionJson, type ViewServices } from "../supervisor/view.ts";
import { askingAgent } from "./authorize.ts";
import { findSession } from "./find.ts";

type Needs = ViewServices & Pick<Services, "agents">;

export function trackerHandlers(
  services: Needs,
  loop: Loop,
  tracking: LazyTracking,
): Handlers<"trackers" | "trackersRefresh" | "claimPullRequest" | "webhook"> {
  return {
    trackers: () => tracking.report(),
    trackersRefresh: ({ input }) => tracking.refresh(input.project),
    claimPullRequest: (request) => claimPullRequest(services, loop, tracking, request),
    webhook: ({ params, input }) => tracking.webhook(params.id, input),
  };
}

/** Links a pull request to a session, whatever its branch is called. */
async function claimPullRequest(
  services: Needs,
  loop: Loop,
  tracking: LazyTracking,
  request: ApiRequest<"claimPullRequest">,
): Promise<SessionJson> {
  const { pullRequest: reference } = request.input;
  const { store } = services;
  const session = findSession(services, request);
  const codeHost = requireCodeHost(await services.settings.forSession(session.project));
  const trackers = await tracking.open();
  const found = await trackers.query(codeHost, async ({ host }) => host?.pullRequest(reference) ?? { is: "absent" });
  if (found.is === "absent") {
    const message = `${codeHost.repo} has no pull request ${reference}, or its token may not see it.`;
    throw new HoldfastError("not-found", message, { hint: "Give its number or its address." });
  }
  if (found.is === "unknown") {
    throw new HoldfastError("preflight-failed", `Could not look up pull request ${reference}: ${found.why}`, {
      hint: "Try again when the tracker responds; see `holdfast doctor`.",
    });
  }
  const facts = found.value;
  const others = store.sessions().filter((one) => one.id !== session.id && has(one, facts.url));
  const agent = askingAgent(services, request.actor);
  if (agent !== null && others.length > 0) {
    throw new HoldfastError("forbidden", `${others[0]!.id} has pull request #${facts.number}.`, {
      hint: "Only the user can move it from one session to another.",
    });
  }
  // The session has it by its own branch or the user's claim, which an agent's claim must not replace.
  const isKnown = request.actor.startsWith("session:") && has(session, facts.url);
  // First added here, then removed there: after a crash in between it is shown twice rather than not at all.
  const state = await store.commit(session.id, () => [
    { type: "pull-request.seen", pullRequest: facts },
    // A shell is the user.
    ...(isKnown
      ? []
      : [{ type: "pull-request.claimed" as const, url: facts.url, by: agent === null ? "person" : request.actor }]),
  ]);
  for (const other of isKnown ? [] : others) {
    await store.commit(other.id, (now) =>
      has(now, facts.url)
        ? [{ type: "pull-request.lost", url: facts.url, reason: `claimed by ${session.id}`, takenBy: session.id }]
        : [],
    );
  }
  return sessionJson(services, loop, store.session(session.id) ?? state);
}

function has({ pullRequests = [] }: SessionState, url: string): boolean {
  return pullRequests.some((one) => one.lost === null && one.facts.url === url);
}

const renewToken =
  "Set a token that can read this repository. The daemon reads variables when it starts: then run `holdfast restart`.";

const renamed = "Set the project's tracker.repo, or the address of the origin remote, to the new name.";

export function trackerFinding(of: TrackerJson): FindingJson {
  const check = `tracker ${of.project}`;
  const name = `${of.type} ${of.repo}`;
  switch (of.state) {
    case "ok":
      if (of.lastOk === null) return finding(check, "info", `${name} has not been checked yet.`);
      return of.why === null
        ? finding(check, "ok", `${name} is reachable.`)
        : finding(check, "info", `${name} is reachable. ${of.why}`, renamed);
    case "no-token":
      return finding(check, "info", `${name} is not polled.`, of.why);
    case "resting":
    case "failing": {
      const until = of.restsUntil === null ? "" : ` Retrying after ${of.restsUntil}.`;
      const since = of.lastOk === null ? " It has not responded yet." : ` It last responded at ${of.lastOk}.`;
      const message = `${name}: ${of.why ?? "rate-limited."}${since}${until} Sessions are unaffected.`;
      return finding(check, "warn", message, of.token === "refused" ? renewToken : null);
    }
    default:
      return of.state satisfies never;
  }
}
