import { spawn } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify, isAlive } from "../../src/base/pid.ts";
import type { InfoJson } from "../../src/contract/daemon.ts";
import { TestDevice } from "../../src/server/device.fixture.ts";
import type { Output } from "../../src/contract/operations.ts";
import { anotherBuild } from "../harness/another-build.ts";
import { Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";

const info = (home: Home): Promise<InfoJson> => home.json<InfoJson>(["info"]);

test("[DAEMON-1] start prints the address; a second start reports that the daemon already runs and changes nothing", async () => {
  await using home = new Home();
  const first = await home.ok(["start", "--port", "0"]);
  const { pid, url } = home.daemon();
  expect(first).toContain(`Holdfast is running at ${url} (pid ${pid}).`);
  const second = await home.cli(["start", "--port", "1", "--read-only"]);
  expect(second).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Holdfast is already running at ${url} (pid ${pid}).`),
  });
  expect(await info(home)).toMatchObject({
    state: "running",
    pid,
    url,
    home: home.home,
    managedBy: null,
    socket: home.paths.socket,
  });
  expect(home.daemon().options.readOnly).toBe(false);
});

test("[DAEMON-2] stop stops the daemon, reports it, and succeeds if there is nothing to stop", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const { pid } = home.daemon();
  expect(await home.ok(["stop"])).toBe("Daemon stopped. No sessions were running.\n");
  expect(identify(pid)).toBeNull();
  expect(existsSync(home.paths.daemonFile)).toBe(false);
  expect(existsSync(home.paths.socket)).toBe(false);
  expect(await home.ok(["stop"])).toBe("Holdfast is not running.\n");
  expect((await info(home)).state).toBe("stopped");
});

test("[DAEMON-3] many simultaneous starts create one daemon, and all of them print its address", async () => {
  await using home = new Home();
  const all = await Promise.all([1, 2, 3, 4].map(() => home.cli(["start", "--port", "0"])));
  const { url } = home.daemon();
  for (const ran of all) expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(url) });
  expect(new Set(all.map(({ stdout }) => /pid (\d+)/.exec(stdout)?.[1])).size).toBe(1);
});

test("[DAEMON-4] a killed daemon leaves nothing that blocks the next one", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.crash();
  expect(existsSync(home.paths.socket)).toBe(true);
  expect((await info(home)).state).toBe("stopped");
  await home.ok(["start"]);
  expect((await info(home)).state).toBe("running");
});

test("[DAEMON-5] an unresponsive daemon keeps its home, and the CLI reports it", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const { pid } = home.daemon();
  process.kill(pid, "SIGSTOP");
  try {
    expect((await info(home)).state).toBe("unresponsive");
    const ran = await home.cli(["start"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`The daemon (pid ${pid}) is not responding`);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until("the daemon to answer again", async () => (await info(home)).state === "running");
  expect(home.daemon().pid).toBe(pid);
});

test("[DAEMON-6] restart replays host, port, mode and auth, and recalls the passphrase", async () => {
  await using home = new Home();
  writeFileSync(join(home.directory, "secret"), "correct horse battery\n");
  await home.keepPort("--auth", "passphrase", "--passphrase-file", join(home.directory, "secret"), "--read-only");
  const before = home.daemon();
  await home.ok(["restart"]);
  const after = home.daemon();
  expect(after.pid).not.toBe(before.pid);
  expect(after.url).toBe(before.url);
  expect(after.options).toMatchObject({ host: "127.0.0.1", auth: "passphrase", readOnly: true, restore: true });
  expect(statSync(home.paths.passphrase).mode & 0o777).toBe(0o600);
  const browser = new TestDevice(after.url);
  const { nonce, passphrase } = (await (await fetch(`${after.url}/api/challenge`)).json()) as Output<"challenge">;
  const login = await fetch(`${after.url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: after.url },
    body: JSON.stringify(browser.byPassphrase("correct horse battery", passphrase!, nonce)),
  });
  expect(login.status).toBe(200);
});

test("[DAEMON-6] a restart that cannot recall the passphrase leaves the old daemon running", async () => {
  await using home = new Home();
  writeFileSync(join(home.directory, "secret"), "correct horse battery\n");
  await home.ok(["start", "--port", "0", "--auth", "passphrase", "--passphrase-file", join(home.directory, "secret")]);
  const { pid } = home.daemon();
  // The daemon replaces the words by a verifier; while it does, the file could appear again.
  await until("the verifier", () => readFileSync(home.paths.passphrase, "utf8").startsWith("holdfast-pbkdf2-"));
  renameSync(home.paths.passphrase, `${home.paths.passphrase}.away`);
  const ran = await home.cli(["restart"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("passphrase");
  expect((await info(home)).pid).toBe(pid);
});

test("[DAEMON-7] a daemon in the foreground belongs to its manager", async () => {
  await using home = new Home();
  const child = spawn(join(import.meta.dirname, "../../bin/holdfast"), ["start", "--foreground", "--port", "0"], {
    env: home.env,
  });
  try {
    await until("the foreground daemon", () => existsSync(home.paths.daemonFile));
    expect(home.daemon()).toMatchObject({ pid: child.pid, managedBy: "foreground" });
    const ran = await home.cli(["restart"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("foreground");
    expect((await info(home)).pid).toBe(child.pid);
  } finally {
    child.kill("SIGTERM");
  }
  await until("it to end", () => child.exitCode !== null || child.signalCode !== null);
  expect(child.exitCode).toBe(0);
});

test("[DAEMON-8, CLI-40] a daemon started inside tmux and another agent outlives them and has none of their variables", async () => {
  await using home = new Home();
  const socket = `hf-outer-${process.pid}`;
  const bin = join(import.meta.dirname, "../../bin/holdfast");
  const tmux = (...args: string[]): ReturnType<Home["run"]> =>
    home.run("tmux", ["-L", socket, "-f", "/dev/null", ...args]);
  await tmux(
    "new-session",
    "-d",
    "-s",
    "outer",
    "env",
    "CLAUDECODE=1",
    "CLAUDE_CODE_ENTRYPOINT=cli",
    "HOLDFAST_SESSION=other-1",
    bin,
    "start",
    "--port",
    "0",
  );
  await until("the daemon", () => existsSync(home.paths.daemonFile));
  const { pid, startTime, bootId } = home.daemon();
  await until("the outer session to end", async () => (await tmux("list-sessions")).code !== 0);
  // tmux leaves its socket behind.
  rmSync(`/tmp/tmux-${process.getuid!()}/${socket}`, { force: true });
  const environment = readFileSync(`/proc/${pid}/environ`, "latin1")
    .split("\0")
    .map((entry) => entry.split("=")[0]);
  expect(environment).toContain("HOME");
  expect(environment.filter((name) => /^(TMUX|CLAUDE|HOLDFAST_SESSION)/.test(name ?? ""))).toEqual([]);
  expect(isAlive({ pid, startTime, bootId })).toBe(true);
  expect((await info(home)).state).toBe("running");
});

test("[DAEMON-9] commands start the daemon with the options of its last start, except with --no-start", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0", "--read-only"]);
  await home.ok(["stop"]);
  const refused = await home.cli(["session", "ls", "--no-start"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("Holdfast is not running.");
  for (const command of [["info"], ["logs"], ["doctor"], ["stop"]]) await home.cli(command);
  expect(existsSync(home.paths.daemonFile)).toBe(false);
  await home.ok(["session", "ls"]);
  expect(home.daemon().options).toMatchObject({ port: 0, readOnly: true });
});

test("[DAEMON-21] a daemon logs at the level given at its start or by HOLDFAST_LOG; restart keeps it", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0", "--log-level", "debug"]);
  expect(home.daemon().options.logLevel).toBe("debug");
  await home.ok(["restart"]);
  expect(home.daemon().options.logLevel).toBe("debug");
  await home.ok(["restart"], { env: { HOLDFAST_LOG: "warn" } });
  expect(home.daemon().options.logLevel).toBe("warn");
  const wrong = await home.cli(["start"], { env: { HOLDFAST_LOG: "loud" } });
  expect([wrong.code, wrong.stderr.split("\n")[0]]).toEqual([
    2,
    "HOLDFAST_LOG must be debug, info, warn, error, not loud.",
  ]);
});

test("[DAEMON-22] info and doctor report a daemon whose build is not the installed one", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  expect(await home.ok(["info"])).not.toContain("Installed:");
  const newer = anotherBuild(home, "newer");
  const shown = await home.run(newer, ["info"]);
  expect(shown.stdout).toMatch(/^Installed: +.*; to use it: holdfast restart$/m);
  const doctor = await home.run(newer, ["doctor", "--json"]);
  const findings = JSON.parse(doctor.stdout) as { check: string; level: string; fix: string | null }[];
  expect(findings.find(({ check }) => check === "daemon")).toMatchObject({ level: "warn", fix: "holdfast restart" });
});

test("[DAEMON-14] the API answers only after every session was observed", async () => {
  await using home = new Home();
  home.arm("daemon.reconciled", "pause");
  const starting = home.cli(["start", "--port", "0"]);
  await home.reached("daemon.reconciled");
  expect(existsSync(home.paths.socket)).toBe(false);
  home.disarm("daemon.reconciled");
  expect((await starting).code).toBe(0);
});

test("[DAEMON-15, LIMIT-3] readiness runs a query and a write", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  expect(await home.health()).toMatchObject({ status: 200, json: { ok: true, build: home.daemon().build } });
  // A stranger triggers neither, and learns nothing else.
  const answer = await fetch(`${home.daemon().url}/api/health`);
  expect(await answer.json()).toEqual({ ok: true });
});

test("[DAEMON-16] a read-only daemon refuses writes", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0", "--read-only"]);
  const ran = await home.cli(["project", "add", await home.repository()]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("read-only");
});
