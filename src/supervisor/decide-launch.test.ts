import { describe } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { again, base, check, fresh, recheck, now, resume, stopped, upNow } from "./decide.fixture.ts";
import { absent, ended, failed, prompt, sending, sent, started, talked, up } from "./facts.fixture.ts";

describe("[DECIDE-6] what ended is launched again, or rests until asked", () => {
  const crash = (at: number): SessionEvent & { at?: number } => ended("crash", { code: 1, signal: null }, at);
  const crashes = (...at: number[]): (SessionEvent & { at?: number })[] => [
    ...talked,
    ...at.flatMap((time) => [started, up, crash(time)]),
  ];
  check([
    ["first launch", base, {}, fresh()],
    ["own exit: stays ended", [...talked, ended("own-exit")], {}, null],
    ["own exit, asked again: resumed", [...talked, ended("own-exit"), again], {}, resume()],
    ["own exit, a newer prompt: resumed", [...talked, ended("own-exit"), prompt("p-1")], {}, resume()],
    [
      "[DECIDE-31] own exit, and a kill that the record lost moved its worktree to the trash: stays ended",
      [...talked, ended("own-exit")],
      { workspace: absent, workspaceInTrash: true, trashedUnrecorded: true },
      { do: "stay-ended" },
    ],
    ["own exit, an older prompt still waiting: stays ended", [...talked, prompt("p-1"), ended("own-exit")], {}, null],
    ["one crash: resumed at once", crashes(now), {}, resume(2)],
    ["two crashes within a minute: resumed", crashes(now - 59_000, now), {}, resume(3)],
    ["three crashes within a minute: failed", crashes(now - 59_000, now - 1_000, now), {}, null],
    ["three crashes, the first a minute ago: resumed", crashes(now - 60_000, now - 1_000, now), {}, resume(3)],
    ["three crashes an hour ago: still failed", crashes(now - 3_600_000, now - 3_599_000, now - 3_598_000), {}, null],
    ["three crashes and a newer prompt: still failed", [...crashes(now - 2, now - 1, now), prompt("p-1")], {}, null],
    ["three crashes, asked again: a whole budget again", [...crashes(now - 2, now - 1, now), again], {}, resume()],
    ["lost: resumed", [...talked, ended("lost")], {}, resume()],
    ["lost with --no-restore: stays down", [...talked, ended("lost")], { restoreLost: false }, null],
    [
      "lost with --no-restore, asked again: resumed",
      [...talked, ended("lost"), again],
      { restoreLost: false },
      resume(),
    ],
    [
      "lost with --no-restore, a newer prompt: resumed",
      [...talked, ended("lost"), prompt("p-1")],
      { restoreLost: false },
      resume(),
    ],
    ["stopped and wanted running again: resumed", [...talked, stopped, ended("stopped"), again], {}, resume()],
    ["a failed launch: not tried again", [...base, started, failed], {}, null],
    ["a failed launch, asked again: launched", [...base, started, failed, again], {}, fresh()],
    ["a failed launch, a newer prompt: launched", [...base, started, failed, prompt("p-1")], {}, fresh()],
    ["a failed launch, an older prompt: not tried again", [...base, prompt("p-1"), started, failed], {}, null],
    ["launches wait for the second look too", [...talked, ended("stopped")], { recheckAt: now + 500 }, recheck],
  ]);
});

describe("[DECIDE-7] the conversation is taken up where there is one", () => {
  const resumeStarted: SessionEvent = { ...started, how: "resume" } as SessionEvent;
  const failures = Array.from({ length: 3 }, () => [resumeStarted, failed]).flat();
  check([
    [
      "never prompted: fresh",
      [...upNow, { type: "conversation.pinned", agentSessionId: "c" }, ended("stopped")],
      {},
      fresh(),
    ],
    [
      "[DECIDE-24] no known conversation: fresh, no guess",
      [...upNow, prompt("p-1"), sending("p-1"), sent("p-1"), ended("stopped")],
      {},
      fresh(),
    ],
    ["an agent without a way back: fresh", [...talked, ended("stopped")], { canResume: false }, fresh()],
    [
      "[DECIDE-28] three resumes failed: the context is reset",
      [...talked, ended("lost"), ...failures, prompt("p-1")],
      {},
      { do: "reset-context", why: "3 attempts in a row to resume the conversation failed" },
    ],
    [
      "[DECIDE-28] after the reset: fresh",
      [...talked, ended("lost"), ...failures, prompt("p-1"), { type: "context.reset", reason: "r", previous: "c" }],
      {},
      fresh(),
    ],
    [
      "two resumes failed: tried once more",
      [...talked, ended("lost"), ...failures.slice(2), prompt("p-1")],
      {},
      resume(),
    ],
  ]);
});
