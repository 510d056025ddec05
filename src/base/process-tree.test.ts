import { expect, test } from "vitest";
import type { ProcessStat } from "./pid.ts";
import { membersOf, type Surroundings } from "./process-tree.ts";

const stat = (pid: number, parent: number, group = pid, session = group): ProcessStat => ({
  pid,
  parent,
  group,
  session,
  state: "S",
  startTime: `${pid}00`,
});
const root = { bootId: "b", pid: 10, startTime: "1000" };
const around: Surroundings = { self: 5, isBarred: (pid) => pid === 4, ownMarker: null };
const marker = { name: "M", values: ["l1", "l2"] };

function members(stats: ProcessStat[], markers: [number, string][] = [], over: Partial<Surroundings> = {}): number[] {
  const found = membersOf({ roots: [root], marker }, { stats, markers: new Map(markers) }, { ...around, ...over });
  return found.map(({ pid }) => pid).toSorted((one, other) => one - other);
}

test("[TERMINAL-3] a tree is its descendants, the groups and sessions it leads, and whatever carries its marker", () => {
  const stats = [
    stat(10, 5),
    stat(11, 10, 10),
    stat(12, 11),
    // Reparented, but still in the root's session.
    stat(13, 1, 13, 10),
    // Reparented into a session of its own: only the marker tells.
    stat(14, 1),
    stat(15, 14),
    stat(16, 1),
  ];
  expect(
    members(stats, [
      [14, "l2"],
      [16, "foreign"],
    ]),
  ).toEqual([10, 11, 12, 13, 14, 15]);
});

test("[BASE-1] a pid that now belongs to another process is not the root", () => {
  expect(members([{ ...stat(10, 1), startTime: "9999" }, stat(11, 10)])).toEqual([]);
});

test("[TERMINAL-10] never ourselves, our ancestors or a tmux server, and nothing through them", () => {
  const stats = [stat(10, 1), stat(4, 10), stat(5, 4), stat(20, 5), stat(21, 4)];
  expect(
    members(stats, [
      [4, "l1"],
      [5, "l1"],
    ]),
  ).toEqual([10]);
});

test("[TERMINAL-3] a member in a foreign group does not bring that group in", () => {
  expect(members([stat(30, 1), stat(31, 30, 30), stat(32, 1, 30)], [[31, "l1"]])).toEqual([31]);
});

test("[CLI-40] the marker of a launch that we run in does not identify our own children", () => {
  const stats = [stat(5, 1), stat(20, 5), stat(21, 20), stat(14, 1)];
  const markers: [number, string][] = [
    [5, "l1"],
    [20, "l1"],
    [21, "l1"],
    [14, "l1"],
  ];
  expect(members(stats, markers, { ownMarker: "l1" })).toEqual([14]);
  expect(members(stats, markers, { ownMarker: null })).toEqual([14, 20, 21]);
});

test("[CONTAIN-7] all that shares a member's pid namespace belongs, our own namespace apart", () => {
  const stats = [stat(10, 5), stat(11, 10), stat(12, 11), stat(13, 1), stat(14, 1), stat(15, 1)];
  const namespaces = new Map([
    [10, "own"],
    [11, "inner"],
    [12, "inner"],
    [13, "inner"],
    [14, "own"],
    [15, "another"],
  ]);
  const table = { stats, markers: new Map<number, string>(), namespaces, ownNamespace: "own" };
  const found = membersOf({ roots: [root], marker: null }, table, around).map(({ pid }) => pid);
  expect(found.toSorted((one, other) => one - other)).toEqual([10, 11, 12, 13]);
});
