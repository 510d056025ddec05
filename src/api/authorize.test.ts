import { expect, test } from "vitest";
import { asProjectId, asSessionId } from "../contract/ids.ts";
import type { Right } from "../contract/rights.ts";
import type { SessionState } from "../model/session.ts";
import { checkMayPrompt, promptRight, refuseIssueInShell } from "./authorize.ts";

const parts = { agents: { of: () => null } } as unknown as Parameters<typeof checkMayPrompt>[0];
const session = (role: "worker" | "shell"): SessionState =>
  ({ id: asSessionId("ma-1"), role, agent: role === "shell" ? "shell" : "demo", kind: "terminal" }) as SessionState;
const device = (rights: Right) => ({ device: { id: "d", rights } });

test("[DEVICE-8] a device that may answer talks to agents, and to shells only one that may do everything", () => {
  expect(promptRight(parts, session("worker"))).toBe("answer");
  expect(() => checkMayPrompt(parts, session("worker"), device("answer"))).not.toThrow();
  expect(() => checkMayPrompt(parts, session("shell"), device("answer"))).toThrow("ma-1 is a shell");
  expect(() => checkMayPrompt(parts, session("shell"), device("all"))).not.toThrow();
  // The main token and the socket.
  expect(() => checkMayPrompt(parts, session("shell"), {})).not.toThrow();
});

test("[AUTHORIZE-4] the text of an issue is typed into no shell, whatever the agent is called", () => {
  const agents = { of: () => ({ terminal: { start: ["/bin/bash", "-i"] } }) } as unknown as (typeof parts)["agents"];
  const settings = { id: asProjectId("app"), tracker: {} } as Parameters<typeof refuseIssueInShell>[1];
  const wish = { role: "worker", kind: "terminal", agent: "mine" } as const;
  const ask = (over: object, known = agents) =>
    refuseIssueInShell({ agents: known }, settings, { issue: "7", ...over }, wish);
  expect(() => ask({})).toThrow("The agent mine is a shell");
  expect(() => ask({ issue: undefined })).not.toThrow();
  expect(() => ask({}, parts.agents)).not.toThrow();
  expect(() => refuseIssueInShell({ agents }, settings, { issue: "7" }, { ...wish, kind: "chat" })).not.toThrow();
  expect(() => refuseIssueInShell(parts, settings, { issue: "7" }, { ...wish, agent: "shell" })).toThrow("is a shell");
});
