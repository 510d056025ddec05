import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { daemon, failure, verbResponse } from "../commands.fixture.ts";

describe("[CLI-30] verbs take several sessions", () => {
  test.each([
    ["stop", "stopped"],
    ["kill", "killed"],
    ["archive", "archived"],
    ["unarchive", "unarchived"],
    ["wake", "woken"],
  ])("session %s names each", async (verb, done) => {
    const { run } = await daemon({
      [`POST /api/sessions/ma-1/${verb}`]: { answer: verbResponse("ma-1", { notes: ["a note"] }) },
      [`POST /api/sessions/ma-2/${verb}`]: { answer: verbResponse("ma-2") },
    });
    expect(await run(["session", verb, "ma-1", "ma-2", "ma-1"])).toEqual({
      code: 0,
      out: `Session ma-1 ${done}.\n  a note\nSession ma-2 ${done}.`,
      err: "",
    });
  });

  test("a failure is reported, the others are done, and the exit code is 1", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/kill": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-3/kill": { answer: verbResponse("ma-3") },
      "GET /api/sessions": { answer: [] },
    });
    expect(await run(["session", "kill", "ma-1", "nope", "ma-3"])).toEqual({
      code: 1,
      out: "Session ma-1 killed.\nSession ma-3 killed.",
      err: "Failed to kill session nope: Session not found\nList sessions: holdfast session ls --include-terminated",
    });
  });

  test("JSON is an object for one and an array for several", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/stop": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-2/stop": { answer: verbResponse("ma-2") },
    });
    expect(JSON.parse((await run(["session", "stop", "ma-1", "--json"])).out)).toMatchObject({
      id: "ma-1",
      done: true,
    });
    expect(JSON.parse((await run(["session", "stop", "ma-1", "ma-2", "--json"])).out)).toMatchObject([
      { id: "ma-1" },
      { id: "ma-2" },
    ]);
    const failed = await run(["session", "stop", "ma-1", "no", "--json"]);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject([{ id: "ma-1" }]);
    expect(JSON.parse(failed.err)).toMatchObject({ error: { code: "not-found" } });
  });

  test("delete asks once for all of them", async () => {
    const { run } = await daemon({
      "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1" }) },
      "GET /api/sessions/ma-2": { answer: sessionOf({ id: "ma-2" }) },
      "POST /api/sessions/ma-1/delete": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-2/delete": { answer: verbResponse("ma-2") },
    });
    expect(await run(["session", "delete", "ma-1", "ma-2"])).toEqual({
      code: 1,
      out: "",
      err: "Nothing was deleted.\nAdd --yes to delete them.",
    });
    expect((await run(["session", "delete", "ma-1", "ma-2", "--yes"])).out).toBe(
      "Session ma-1 deleted.\nSession ma-2 deleted.",
    );
  });
});

describe("[CLI-31] session restore --all", () => {
  const lost = { how: "lost", by: "machine", at: null, exitCode: null, signal: null, lastLines: [] };
  const sessions = [
    sessionOf({ id: "ma-10", status: "stopped" }),
    sessionOf({ id: "ma-2", status: "stopped" }),
    sessionOf({ id: "ma-3", status: "failed", end: lost }),
    sessionOf({ id: "ma-4", status: "killed" }),
    sessionOf({ id: "ma-5", status: "archived" }),
    sessionOf({ id: "ma-6", status: "snoozed" }),
    sessionOf({ id: "ma-7", status: "failed", end: { ...lost, how: "crash" } }),
    sessionOf({ id: "ma-8", status: "working" }),
  ];

  test("restores only sessions lost to a stop or reboot, with a summary", async () => {
    const { run, asked } = await daemon({
      "GET /api/sessions": { answer: sessions },
      "POST /api/sessions/ma-2/restore": { answer: verbResponse("ma-2") },
      "POST /api/sessions/ma-3/restore": failure(409, "conflict", "Workspace missing: /trees/ma-3", null, {
        reason: "worktree-missing",
      }),
      "POST /api/sessions/ma-10/restore": { answer: verbResponse("ma-10") },
    });
    const ran = await run(["session", "restore", "--all"]);
    expect(ran.code).toBe(1);
    expect(ran.out.split("\n").filter((line) => !line.startsWith(" "))).toEqual([
      "Session ma-2 restored.",
      "Session ma-10 restored.",
      "2 sessions restored, 1 failed.",
    ]);
    expect(ran.err).toBe("Workspace missing: /trees/ma-3");
    expect(asked.filter(({ line }) => line.startsWith("POST"))).toHaveLength(3);
  });

  test("reports that no session is stopped, and refuses names together with --all", async () => {
    const { run } = await daemon({ "GET /api/sessions": { answer: [] } });
    expect(await run(["session", "restore", "--all"])).toEqual({ code: 0, out: "No session is stopped.", err: "" });
    expect((await run(["session", "restore", "--all", "--json"])).out).toBe("[]");
    expect((await run(["session", "restore", "--all", "ma-1"])).code).toBe(2);
    expect((await run(["session", "restore"])).code).toBe(2);
    expect((await run(["session", "restore", "ma-1", "-p", "my-app"])).code).toBe(2);
  });
});

describe("[CLI-29] acp approve and deny of a terminal session", () => {
  test.each(["approve", "deny"])("%s leads to its screen", async (verb) => {
    const reason = "Claude Code asks whether to trust this folder";
    const { run } = await daemon({
      "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1", status: "needs_input", reason }) },
    });
    expect(await run(["acp", verb, "ma-1"])).toEqual({
      code: 1,
      out: "",
      err: `Failed to ${verb} a permission request of session ma-1: it is a terminal session. It asks: ${reason}\nAnswer on its screen: holdfast attach ma-1`,
    });
  });
});

describe("[CLI-26] lists on a terminal", () => {
  const script = { "GET /api/sessions": { answer: [sessionOf({ id: "ma-1", branch: "a-branch-with-a-long-name" })] } };
  test.each([["session", "ls"], ["status"]])(
    "%s %s is cut to the width, and never in a pipe or as JSON",
    async (...words) => {
      const argv = words.filter((word) => typeof word === "string");
      const { run } = await daemon(script);
      const size = { columns: 24, rows: 10 };
      const cut = (await run(argv, { terminal: true, size, env: { NO_COLOR: "1" } })).out.split("\n");
      expect(cut.every((line) => line.length <= 24) && cut.some((line) => line.endsWith("…"))).toBe(true);
      expect((await run(argv)).out).toContain("a-branch-with-a-long-name");
      expect(JSON.parse((await run([...argv, "--json"], { terminal: true, size })).out)).toHaveLength(1);
    },
  );
});

describe("[CLI-34] with --json a failure is JSON on stderr", () => {
  test("in the words of the API, and stdout stays empty", async () => {
    const { run } = await daemon({ "POST /api/sessions/ma-2/kill": failure(409, "conflict", "No.", "Do this.") });
    const ran = await run(["session", "kill", "ma-2", "--json"]);
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(JSON.parse(ran.err)).toEqual({
      error: { code: "conflict", message: "Failed to kill session ma-2: No.", hint: "Do this." },
    });
    const usage = await run(["session", "restore", "--json"]);
    expect(usage.code).toBe(2);
    expect(JSON.parse(usage.err)).toMatchObject({ error: { code: "usage" } });
    const unknown = await run(["session", "kill", "x", "--jsn", "--json"]);
    expect([unknown.code, unknown.out]).toEqual([2, ""]);
    expect(JSON.parse(unknown.err)).toMatchObject({
      error: { code: "usage", message: expect.stringContaining("--jsn") },
    });
    expect(JSON.parse((await run(["kill", "x", "--json"])).err)).toEqual({
      error: {
        code: "usage",
        message: "Unknown command: kill",
        hint: "Did you mean: holdfast session kill x --json",
      },
    });
    // A word behind -- is an argument.
    expect((await run(["session", "kill", "--", "--json"])).err).not.toContain("{");
  });
});

describe("[CLI-35] --json of commands about the daemon", () => {
  test("start finds a running one, stop reports that none runs", async () => {
    const up = await daemon({ "GET /api/info": { answer: {} }, "GET /api/health": { answer: {} } });
    expect(JSON.parse((await up.run(["start", "--json"])).out)).toEqual({
      start: "already-running",
      url: "http://127.0.0.1:4710",
      publicUrls: [],
      pid: process.pid,
      notes: [],
    });
    const down = await daemon(null);
    expect(JSON.parse((await down.run(["stop", "--json"])).out)).toEqual({
      stop: "not-running",
      kept: null,
      halted: [],
      remaining: [],
    });
  });

  test("dashboard", async () => {
    const { run } = await daemon({ "POST /api/login-link": { answer: { url: "http://x/#c", expiresAt: null } } });
    const ran = await run(["dashboard", "--no-open", "--json"]);
    expect(JSON.parse(ran.out)).toEqual({ url: "http://x/#c", expiresAt: null, opened: false });
  });

  test("demo", async () => {
    const { run } = await daemon({
      "GET /api/sessions": { answer: [] },
      "POST /api/projects": { answer: [] },
      "POST /api/sessions": { answer: sessionOf({ id: "demo-1" }) },
      "POST /api/login-link": { answer: { url: "http://x/#c", expiresAt: null } },
    });
    const ran = await run(["demo", "--no-open", "--json"]);
    expect(JSON.parse(ran.out)).toMatchObject({
      project: "demo",
      sessions: [{ id: "demo-1" }, { id: "demo-1" }],
      url: "http://x/#c",
    });
  });

  test("service install --print and uninstall, which succeeds without a service manager", async () => {
    const { run, home } = await daemon(null);
    const config = join(home, "config");
    // Programs of the service manager are found here alone, and fail as they do without a bus.
    const bin = join(home, "bin");
    mkdirSync(bin);
    for (const name of ["systemctl", "launchctl"]) {
      writeFileSync(join(bin, name), "#!/bin/sh\necho Failed to connect to bus >&2\nexit 1\n", { mode: 0o755 });
    }
    const before = process.env["PATH"];
    process.env["PATH"] = `${bin}:${before}`;
    onTestFinished(() => void (process.env["PATH"] = before));
    const env = { XDG_CONFIG_HOME: config, HOME: home };
    const { file, text } = JSON.parse((await run(["service", "install", "--print", "--json"], { env })).out) as {
      file: string;
      text: string;
    };
    expect(await run(["service", "uninstall"], { env })).toMatchObject({ code: 0, out: "No service is installed." });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const ran = await run(["service", "uninstall"], { env });
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).toMatch(/^Removed .*\n(systemd|launchd) could not stop it \(Failed to connect to bus\)/);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, text);
    expect(JSON.parse((await run(["service", "uninstall", "--json"], { env })).out)).toMatchObject({
      file,
      removed: true,
      note: expect.stringContaining("Failed to connect to bus"),
    });
  });
});
