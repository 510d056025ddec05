import { expect, test } from "vitest";
import type { AgentLaunch, Claims, Peer } from "../../contract/caller.ts";
import { asLaunchId, asSessionId } from "../../contract/ids.ts";
import { callerOf, peerOf, type Ancestor, type Launches } from "./identify-caller.ts";

const launchOf = (digit: string) => asLaunchId(`${digit.repeat(8)}-0000-4000-8000-000000000000`);
const identity = (pid: number) => ({ bootId: "b", pid, startTime: String(pid) });
const up = (id: string, digit: string, pid: number): Launches["sessions"][number] => ({
  id: asSessionId(id),
  run: { run: "up", launch: launchOf(digit), at: 0, agent: identity(pid) },
});
const launches: Launches = {
  home: "/h",
  cgroup: "holdfast-abc",
  worktrees: "/h/worktrees",
  sessions: [
    up("ma-1", "1", 100),
    up("ma-2", "2", 200),
    up("ma-9", "9", 900),
    { id: asSessionId("ma-5"), run: { run: "launching", launch: launchOf("5"), attempt: 1, how: "fresh", at: 0 } },
  ],
  isShell: (id) => id === "ma-9",
};
const plain = (pid: number): Ancestor => ({
  pid,
  startTime: String(pid),
  launch: null,
  session: null,
  home: null,
  making: null,
});
const marked = (pid: number, digit: string, session = "ma-0", home = "/h"): Ancestor => ({
  ...plain(pid),
  launch: launchOf(digit),
  session,
  home,
});
const peer = (line: Ancestor[], cgroup = "0::/user.slice"): Peer => peerOf({ cgroup, line }, launches);
const agent = (session: string, digit: string): Peer => ({
  is: "agent",
  session: asSessionId(session),
  launch: launchOf(digit),
});

test("[AUTHORIZE-1] a process is an agent's by its ancestors, by their environment, or by its cgroup", () => {
  expect(peer([plain(7), plain(1)])).toEqual({ is: "person" });
  expect(peer([plain(7), plain(100), plain(1)])).toEqual(agent("ma-1", "1"));
  // The same pid, but another process.
  expect(peer([plain(7), { ...plain(100), startTime: "1" }])).toEqual({ is: "person" });
  expect(peer([marked(7, "2"), plain(1)])).toEqual(agent("ma-2", "2"));
  expect(peer([marked(7, "5"), plain(1)])).toEqual(agent("ma-5", "5"));
  for (const cgroup of [
    `0::/a/holdfast-abc/ma-2-${launchOf("2")}`,
    `6:freezer:/holdfast-abc/ma-2-${launchOf("2")}/x`,
  ]) {
    expect(peer([plain(7)], `1:cpu:/\n${cgroup}\n`)).toEqual(agent("ma-2", "2"));
  }
  expect(peer([plain(7)], `0::/holdfast-def/ma-2-${launchOf("2")}`)).toEqual({ is: "person" });
  expect(peer([plain(7)], "0::/holdfast-abc")).toEqual({ is: "person" });
});

test("[AUTHORIZE-1] variables of another launch or of a shell make nobody else of an agent's process", () => {
  expect(peer([marked(7, "2", "ma-2"), plain(100)])).toEqual(agent("ma-1", "1"));
  expect(peer([marked(7, "9", "ma-9"), marked(6, "1", "ma-1")])).toEqual(agent("ma-1", "1"));
  expect(peer([marked(7, "9", "ma-9"), plain(100)], `0::/holdfast-abc/ma-9-${launchOf("9")}`)).toEqual(
    agent("ma-1", "1"),
  );
});

test("[AUTHORIZE-1] what runs in a shell is the person's, and what an ended launch left behind is nobody's", () => {
  expect(peer([plain(7), plain(900)])).toEqual({ is: "person" });
  expect(peer([marked(7, "9", "ma-9")], `0::/holdfast-abc/ma-9-${launchOf("9")}`)).toEqual({ is: "person" });
  expect(peer([marked(7, "7", "ma-9")])).toEqual({ is: "person" });
  expect(peer([marked(7, "7", "ma-2")])).toEqual({ is: "ended", session: "ma-2" });
  expect(peer([plain(7)], `0::/holdfast-abc/ma-2-${launchOf("7")}`)).toEqual({ is: "ended", session: "ma-2" });
  // An agent of another home is that home's business.
  expect(peer([marked(7, "7", "ma-2", "/other")])).toEqual({ is: "person" });
});

const claims = (more: Partial<Claims> = {}): Claims => ({ listener: "main", capability: null, session: null, ...more });
const held = (session: string, digit: string): AgentLaunch => ({
  session: asSessionId(session),
  launch: launchOf(digit),
});
const actor = (...given: Parameters<typeof callerOf>): string => {
  const caller = callerOf(...given);
  return caller.may ? caller.actor : `refused: ${caller.message}`;
};

test("[AUTHORIZE-1] what postCreate starts is nobody's: the files that it runs may be an agent's", () => {
  const making = (path: string): Ancestor => ({ ...plain(7), making: path });
  expect(peer([plain(8), making("/h/worktrees/my-app/ma-3")])).toEqual({ is: "setup" });
  expect(peer([plain(8), making("/other/worktrees/my-app/ma-3")])).toEqual({ is: "person" });
  expect(actor({ is: "setup" }, claims(), null)).toMatch(/^refused: postCreate commands/);
});

test("[AUTHORIZE-1] what a request says of itself takes rights away, and never gives any", () => {
  expect(actor({ is: "person" }, claims(), null)).toBe("person");
  expect(actor({ is: "person" }, claims({ session: "ma-2" }), null)).toBe("session:ma-2");
  expect(actor(agent("ma-1", "1"), claims({ session: "ma-9" }), null)).toBe("session:ma-1");
  expect(actor(agent("ma-1", "1"), claims(), null)).toBe("session:ma-1");
  expect(actor({ is: "ended", session: "ma-1" }, claims(), null)).toMatch(
    /^refused: .* a launch of ma-1 that has ended/,
  );
  expect(actor({ is: "gone" }, claims(), null)).toMatch(/^refused/);
  expect(actor({ is: "unknown" }, claims(), null)).toBe("person");
});

test("[AUTHORIZE-2] a capability is its own launch's alone", () => {
  const capability = "hfc_x";
  expect(actor({ is: "unknown" }, claims({ capability }), held("ma-1", "1"))).toBe("session:ma-1");
  expect(actor({ is: "gone" }, claims({ capability }), held("ma-1", "1"))).toBe("session:ma-1");
  expect(actor(agent("ma-1", "1"), claims({ capability }), held("ma-1", "1"))).toBe("session:ma-1");
  expect(actor(agent("ma-1", "1"), claims({ capability }), held("ma-2", "2"))).toMatch(
    /^refused: .*capability of ma-2/,
  );
  for (const is of ["person", "unknown", "gone"] as const) {
    expect(actor({ is }, claims({ capability }), null)).toMatch(/^refused: The capability/);
  }
  expect(actor({ is: "ended", session: "ma-1" }, claims({ capability }), held("ma-1", "1"))).toMatch(/^refused/);
});

test("[AUTHORIZE-3] on the agents' socket nobody is the person", () => {
  const listener = "agents";
  for (const is of ["person", "unknown", "gone"] as const) {
    for (const session of [null, "ma-9"])
      expect(actor({ is }, claims({ listener, session }), null)).toMatch(/^refused/);
  }
  expect(actor(agent("ma-1", "1"), claims({ listener }), null)).toBe("session:ma-1");
  expect(actor({ is: "unknown" }, claims({ listener, capability: "hfc_x" }), held("ma-1", "1"))).toBe("session:ma-1");
});
