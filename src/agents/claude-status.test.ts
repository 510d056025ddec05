import { expect, test } from "vitest";
import { parseClaudeStatus, readClaudeStatus } from "./claude.ts";

const me = { pid: 4242, startTime: "181411" };
const file = {
  pid: 4242,
  procStart: "181411",
  sessionId: "abc",
  status: "waiting",
  statusUpdatedAt: 17,
  waitingFor: "permission prompt",
};

test("[AGENT-13] claude's own status file names what it waits for", () => {
  expect(parseClaudeStatus(JSON.stringify(file), me)).toEqual({
    activity: "needs_input",
    since: 17,
    reason: "Claude Code waits for: permission prompt",
    agentSessionId: "abc",
  });
  expect(parseClaudeStatus(JSON.stringify({ ...file, status: "busy" }), me)?.activity).toBe("working");
  expect(parseClaudeStatus(JSON.stringify({ ...file, status: "idle" }), me)?.activity).toBe("idle");
});

test.each([
  ["a file that a dead process of that pid left", { ...file, procStart: "99" }],
  ["a file of another process", { ...file, pid: 7 }],
  ["a state that is not known", { ...file, status: "dreaming" }],
  ["no state", { pid: 4242, procStart: "181411" }],
])("[AGENT-13] %s is ignored", (_, written) => {
  expect(parseClaudeStatus(JSON.stringify(written), me)).toBeNull();
});

test("[AGENT-13] a half-written or missing file is ignored", () => {
  expect(parseClaudeStatus('{"pid":42', me)).toBeNull();
  expect(readClaudeStatus({ pid: process.pid, startTime: "0" })).toBeNull();
});
