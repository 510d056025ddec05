import { expect, test } from "vitest";
import { type CgroupFacts, judgeCgroup, launchCgroupsRefused } from "./cgroup-risk.ts";

const user = "/user.slice/user-1000.slice";
const manager = `${user}/user@1000.service`;
const at = (path: string, more: Partial<CgroupFacts> = {}): CgroupFacts => ({
  cgroup: `0::${path}\n`,
  lingering: "unknown",
  killUserProcesses: "unknown",
  ...more,
});

test.each<[string, CgroupFacts, string, string | null]>([
  ["a container or no systemd", at("/"), "none", null],
  ["no cgroups at all (macOS)", { ...at(""), cgroup: null }, "none", null],
  ["an ordinary SSH session", at(`${user}/session-3.scope`, { killUserProcesses: "no" }), "none", "session-3.scope"],
  ["an SSH session that cannot be asked about", at(`${user}/session-3.scope`), "none", "session-3.scope"],
  [
    "an SSH session that is swept at logout",
    at(`${user}/session-3.scope`, { killUserProcesses: "yes" }),
    "logout",
    "session-3.scope",
  ],
  ["a system service", at("/system.slice/builder.service"), "unit-stop", "builder.service"],
  [
    "a user service, lingering or not",
    at(`${manager}/app.slice/editor.service`, { lingering: "yes" }),
    "unit-stop",
    "editor.service",
  ],
  [
    "a desktop terminal without lingering",
    at(`${manager}/app.slice/vte-spawn-1.scope`, { lingering: "no" }),
    "logout",
    "vte-spawn-1.scope",
  ],
  [
    "a desktop terminal with lingering",
    at(`${manager}/app.slice/vte-spawn-1.scope`, { lingering: "yes" }),
    "none",
    "vte-spawn-1.scope",
  ],
  [
    "our own scope without lingering",
    at(`${manager}/app.slice/holdfast-1-2.scope`, { lingering: "no" }),
    "logout",
    "holdfast-1-2.scope",
  ],
  [
    "our own unit with lingering",
    at(`${manager}/app.slice/holdfast.service`, { lingering: "yes" }),
    "none",
    "holdfast.service",
  ],
  ["sshd and cron, which leave their children", at("/system.slice/cron.service"), "none", "cron.service"],
  [
    "the old hierarchy",
    { ...at(""), cgroup: "12:pids:/x\n1:name=systemd:/system.slice/builder.service\n0::/\n" },
    "unit-stop",
    "builder.service",
  ],
])("[CLI-39] %s", (_, facts, risk, unit) => {
  const judged = judgeCgroup(facts);
  expect([judged.risk, judged.unit]).toEqual([risk, unit]);
  // A risk always comes with a way out.
  expect(judged.fix === null).toBe(risk === "none");
  expect(judged.sentence).not.toBe("");
});

test.each<[string, CgroupFacts, string | null]>([
  ["a system service", at("/system.slice/builder.service"), "builder.service"],
  ["a session swept at logout", at(`${user}/session-3.scope`, { killUserProcesses: "yes" }), "session-3.scope"],
  ["a desktop terminal", at(`${manager}/app.slice/vte-spawn-1.scope`, { lingering: "no" }), "vte-spawn-1.scope"],
  ["our own scope", at(`${manager}/app.slice/holdfast-1-2.scope`, { lingering: "no" }), null],
  ["an ordinary SSH session", at(`${user}/session-3.scope`), null],
  ["a container or no systemd", at("/"), null],
])("[TERMINAL-5] launches get no cgroups in a unit that would end them: %s", (_, facts, unit) => {
  const refused = launchCgroupsRefused(judgeCgroup(facts));
  expect(/inside (\S+),/.exec(refused ?? "")?.[1] ?? null).toBe(unit);
});
