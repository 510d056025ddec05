/** Trackers, and linking pull requests to sessions. */
import { HoldfastError } from "../contract/errors.ts";
import type { SessionJson } from "../contract/session.ts";
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
