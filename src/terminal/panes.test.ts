import { expect, test } from "vitest";
import { asLaunchId } from "../contract/ids.ts";
import { paneFor, parsePanes } from "./panes.ts";

const line = (...fields: string[]): string => fields.join("\t");
const alive = line(
  "t-1",
  "l1",
  "1",
  "$0",
  "%0",
  "42",
  "9",
  "0",
  "",
  "",
  "1",
  "1700000000",
  "3",
  "0",
  "5",
  "worker-p-t-1",
  "/dev/pts/7",
  "home-1",
  "a\ttitle",
);

test("[TERMINAL-17] one line of the list is one agent's pane; a title may hold anything", () => {
  expect(parsePanes(`${alive}\n`)).toEqual([
    {
      session: "t-1",
      launch: "l1",
      sessionTarget: "$0",
      paneTarget: "%0",
      pid: 42,
      serverPid: 9,
      dead: false,
      exit: null,
      inMode: true,
      changeKey: "1700000000,3,0,5",
      activeAt: 1_700_000_000_000,
      sessionName: "worker-p-t-1",
      tty: "/dev/pts/7",
      title: "a\ttitle",
    },
  ]);
});

test("[TERMINAL-15] sessions without our options, and panes that a person added, are not ours", () => {
  expect(
    parsePanes(
      line("", "", "", "$1", "%1", "7", "9", "0", "", "", "0", "1", "0", "0", "0", "worker-p-t-1", "", "", ""),
    ),
  ).toEqual([]);
  expect(parsePanes(alive.replace("\t1\t$0", "\t\t$0"))).toEqual([]);
});

test("[HOME-3] panes that name another home are not ours; those of earlier builds name none", () => {
  expect(parsePanes(alive, "home-1")).toHaveLength(1);
  expect(parsePanes(alive, "home-2")).toEqual([]);
  expect(parsePanes(alive.replace("home-1", ""), "home-2")).toHaveLength(1);
});

test.each([
  ["0", "", { code: 0, signal: null }],
  ["3", "", { code: 3, signal: null }],
  ["", "9", { code: null, signal: "SIGKILL" }],
  ["", "15", { code: null, signal: "SIGTERM" }],
  ["", "", null],
])("[DECIDE-29] exit status %j and signal %j", (status, signal, exit) => {
  const dead = line(
    "t-1",
    "l1",
    "1",
    "$0",
    "%0",
    "42",
    "9",
    "1",
    status,
    signal,
    "0",
    "1",
    "0",
    "0",
    "0",
    "n",
    "/dev/pts/7",
    "",
    "t",
  );
  expect(parsePanes(dead)[0]?.exit).toEqual(exit);
});

test("[TERMINAL-15] of several panes the expected launch counts, then a live one", () => {
  const [one] = parsePanes(alive);
  const old = { ...one!, launch: asLaunchId("l0"), dead: true };
  const session = (launch: string) => ({
    id: one!.session,
    run: { run: "launching" as const, launch: asLaunchId(launch), attempt: 1, how: "fresh" as const, at: 0 },
  });
  expect(paneFor([old, one!], session("l0"))?.launch).toBe("l0");
  expect(paneFor([old, one!], session("l9"))?.launch).toBe("l1");
  expect(paneFor([], { id: one!.session, run: { run: "none" } })).toBeNull();
});
