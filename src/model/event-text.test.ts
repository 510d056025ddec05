import { expect, test } from "vitest";
import type { EventJson } from "../contract/stream.ts";
import { eventText } from "./event-text.ts";

const line = (type: string, data: object): string =>
  eventText({ seq: 1, at: "", type, ...data } as unknown as EventJson);

test("[WEB-26] the log tells pull requests, issues, reactions and notifications in words", () => {
  const checks = ["failed", "pending", "passed"].map((state) => ({ name: state, state, url: null }));
  const pullRequest = {
    number: 7,
    title: "Work",
    state: "open",
    draft: false,
    checks,
    review: "required",
    conflict: true,
  };
  expect(line("pull-request.seen", { pullRequest })).toBe(
    "Pull request #7 open, failed checks: 1, pending checks: 1, review required, conflicts: Work",
  );
  expect(line("pull-request.claimed", { url: "http://h/7", by: "session:ma-1" })).toBe(
    "Pull request claimed by session ma-1: http://h/7",
  );
  expect(line("pull-request.lost", { url: "http://h/7", reason: "claimed by ma-2" })).toBe(
    "Pull request unlinked: claimed by ma-2 (http://h/7)",
  );
  expect(line("issue.seen", { issue: { key: "12", title: "Roof", state: "closed" } })).toBe("Issue 12 is closed: Roof");
  const fired = { reaction: "ci-failed", action: "send-to-agent", why: "Checks failed.", attempt: 2 };
  expect(line("reaction.fired", fired)).toBe("Reaction ci-failed: messaged the agent. Checks failed. Attempt 2.");
  expect(line("reaction.escalated", { reaction: "ci-failed", why: "It is not over." })).toBe(
    "Reaction ci-failed: escalated to you. It is not over.",
  );
  expect(line("notification", { title: "ma-1: ended", why: "It ended." })).toBe("Notified: ma-1: ended. It ended.");
  expect(line("notification.sent", { failed: [{ channel: "slack", why: "status 500" }] })).toBe(
    "Notification not sent: slack, status 500",
  );
});

test("[WEB-33] the log tells in words what became of a prompt, a conversation and a question", () => {
  expect(line("prompt.sent", { promptId: "p", seenBy: "in" })).toBe("Prompt reached the agent");
  expect(line("prompt.sent", { promptId: "p", seenBy: "hook" })).toBe("Prompt reached the agent, which confirmed it");
  expect(line("prompt.moved", { promptId: "p", position: 0, by: "person" })).toBe("Prompt moved to position 1 by you");
  expect(line("prompt.refused", { promptId: "p", reason: "it is gone" })).toBe("Prompt refused: it is gone");
  expect(line("chat.opened", { agentSessionId: "c", how: "load" })).toBe("Conversation c reopened");
  expect(line("permission.answered", { optionId: null, outcome: "cancelled", by: "agent" })).toBe(
    "Answered by the agent itself: cancelled",
  );
  expect(line("turn.ended", { stopReason: "error", message: "overloaded" })).toBe("Turn ended: error, overloaded");
});

test("[WEB-33] an event without a text of its own gets one from its type and fields, also one of a newer daemon", () => {
  expect(line("session.praised", { by: "person" })).toBe("Session praised by you");
  expect(line("night-watch.seen", { stars: 3 })).toBe("Night watch seen: stars 3");
});
