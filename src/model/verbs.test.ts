import { expect, test } from "vitest";
import type { SessionJson } from "../contract/session.ts";
import { verbsFor } from "./verbs.ts";

function session(want: SessionJson["intent"]["want"], over: Partial<SessionJson> = {}): SessionJson {
  const base: Partial<SessionJson> = { kind: "chat", role: "worker", status: "idle", workspace: "ready", trash: null };
  const up = want === "running" ? [{ pid: 1, startedAt: null, what: "agent" }] : [];
  return {
    ...base,
    intent: { want, by: "person", at: null },
    processes: up,
    ...over,
  } as SessionJson;
}

test.each<[string, SessionJson, string[]]>([
  [
    "running",
    session("running"),
    ["rename", "pin", "restart", "convert", "stop", "snooze", "archive", "kill", "delete"],
  ],
  [
    "a running terminal",
    session("running", { kind: "terminal" }),
    ["rename", "pin", "convert", "stop", "snooze", "archive", "kill", "delete"],
  ],
  [
    "a shell",
    session("running", { kind: "terminal", role: "shell" }),
    ["rename", "pin", "stop", "snooze", "archive", "kill", "delete"],
  ],
  [
    "exited",
    session("running", { status: "exited", processes: [] }),
    ["rename", "pin", "restore", "convert", "snooze", "archive", "kill", "delete"],
  ],
  ["stopped", session("stopped"), ["rename", "pin", "restore", "convert", "snooze", "archive", "kill", "delete"]],
  ["snoozed", session("snoozed"), ["rename", "pin", "wake", "convert", "stop", "snooze", "archive", "kill", "delete"]],
  ["archived", session("archived"), ["rename", "pin", "unarchive", "convert", "kill", "delete"]],
  ["killed", session("killed", { workspace: "trashed", trash: "t" }), ["rename", "pin", "restore", "delete"]],
  ["killed, its files gone", session("killed", { workspace: "gone" }), ["rename", "pin", "delete"]],
  [
    "pinned",
    session("stopped", { pinned: true }),
    ["rename", "unpin", "restore", "convert", "snooze", "archive", "kill", "delete"],
  ],
])("[WEB-34] verbs of a session that is %s", (_, given, wanted) => {
  expect(verbsFor(given)).toEqual(wanted);
});
