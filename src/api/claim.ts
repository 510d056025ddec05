/** `session claim-pr`: a pull request belongs to a session because somebody says so, whatever its branch is called. */
import type { ApiRequest } from "../ports/api.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";
import type { SessionJson } from "../contract/session.ts";
import { askingAgent } from "./authorize.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { requireCodeHost, type LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import { findSession } from "./run-verb.ts";
import { sessionJson } from "../supervisor/view.ts";

export async function claimPullRequest(
  parts: Services,
  loop: Loop,
  door: LazyTracking,
  ask: ApiRequest<"claimPullRequest">,
): Promise<SessionJson> {
  const { pullRequest: reference } = ask.input;
  const session = findSession(parts, ask);
  const place = requireCodeHost(await parts.settings.forSession(session.project));
  const answer = await (
    await door.open()
  ).query(place, async ({ host }) => (host === null ? { is: "absent" } : await host.pullRequest(reference)));
  if (answer.is === "absent") {
    throw new HoldfastError(
      "not-found",
      `${place.repo} has no pull request ${reference}, or its token may not see it.`,
      {
        hint: "Give its number or its address.",
      },
    );
  }
  if (answer.is === "unknown") {
    throw new HoldfastError("preflight-failed", `Pull request ${reference} could not be looked up: ${answer.why}`, {
      hint: "Try again when the tracker answers; see `holdfast doctor`.",
    });
  }
  const facts = answer.value;
  const others = parts.store.sessions().filter((one) => one.id !== session.id && has(one, facts.url));
  const agent = askingAgent(parts, ask.actor);
  if (agent !== null && others.length > 0) {
    throw new HoldfastError("forbidden", `${others[0]!.id} has pull request #${facts.number}.`, {
      hint: "Only a person can move it from one session to another.",
    });
  }
  // It has this one by its own branch, or by the user's word: an agent's claim must not take the place of that.
  if (ask.actor.startsWith("session:") && has(session, facts.url)) {
    const seen = await parts.store.commit(session.id, () => [{ type: "pull-request.seen", pullRequest: facts }]);
    return sessionJson(parts, loop, parts.store.session(session.id) ?? seen);
  }
  // First here, then gone from there: after a crash in between it is shown twice rather than not at all.
  const state = await parts.store.commit(session.id, () => [
    { type: "pull-request.seen", pullRequest: facts },
    // A shell is the person.
    { type: "pull-request.claimed", url: facts.url, by: agent === null ? "person" : ask.actor },
  ]);
  for (const other of others) {
    await parts.store.commit(other.id, (now) =>
      has(now, facts.url)
        ? [{ type: "pull-request.lost", url: facts.url, reason: `claimed by ${session.id}`, takenBy: session.id }]
        : [],
    );
  }
  return sessionJson(parts, loop, parts.store.session(session.id) ?? state);
}

function has({ pullRequests = [] }: SessionState, url: string): boolean {
  return pullRequests.some((one) => one.lost === null && one.facts.url === url);
}
