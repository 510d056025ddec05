import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { identify, isAlive } from "../../src/base/pid.ts";
import type { InfoJson } from "../../src/contract/daemon.ts";
import { TestDevice } from "../../src/server/device.fixture.ts";
import type { Output } from "../../src/contract/operations.ts";
import { anotherBuild } from "../harness/another-build.ts";
import { Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";

async function takePort(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** A home whose default port is taken by another program. Not the real default: daemons of other tests use that. */
async function withTakenPort(): Promise<{ home: Home; other: Server; port: string }> {
  const other = await takePort(0);
  const port = String((other.address() as AddressInfo).port);
  return { home: new Home({ HOLDFAST_TEST_PORT: port }), other, port };
}

const portOf = (home: Home): string => new URL(home.daemon().url).port;

/** What a start that takes more than two seconds prints meanwhile. */
const withoutProgress = (stderr: string): string =>
  stderr.replaceAll("Still starting. See `holdfast logs` for progress.\n", "");

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

test("[HOME-2] a relative home is the same for the command and for the daemon", async () => {
  await using home = new Home();
  const here = { cwd: dirname(home.home), env: { HOLDFAST_HOME: basename(home.home) } };
  expect(await home.cli(["start", "--port", "0"], here)).toMatchObject({ code: 0 });
  expect((await info(home)).home).toBe(home.home);
  expect(existsSync(join(home.home, basename(home.home)))).toBe(false);
  expect((await home.cli(["stop"], here)).stdout).toBe("Daemon stopped. No sessions were running.\n");
});

test("[DAEMON-17] code compiled at a start is stored in the home for the next one", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const kept = readdirSync(join(home.home, "cache"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
  // The daemon's main file comes to 200 kB, the CLI's to 60.
  expect(Math.max(...kept)).toBeGreaterThan(120_000);
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

test("[DAEMON-18] a removed daemon file or socket is restored, and no command reports the daemon as stopped", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const { pid, url } = home.daemon();
  const lose: ((home: Home) => void)[] = [
    ({ paths }) => rmSync(paths.daemonFile, { force: true }),
    ({ paths }) => rmSync(paths.socket, { force: true }),
    ({ paths }) => {
      rmSync(paths.daemonFile, { force: true });
      // The daemon may restore its socket meanwhile.
      rmSync(paths.run, { recursive: true, force: true, maxRetries: 20 });
    },
    ({ paths }) => writeFileSync(paths.daemonFile, "{"),
  ];
  for (const remove of lose) {
    remove(home);
    expect(await info(home)).toMatchObject({ state: "running", pid, url });
    remove(home);
    expect(await home.cli(["session", "ls", "--no-start"])).toMatchObject({ code: 0, stderr: "" });
    remove(home);
    expect(await home.ok(["start"])).toBe(`Holdfast is already running at ${url} (pid ${pid}).\n`);
    expect(statSync(home.paths.socket).mode & 0o777).toBe(0o600);
  }
  rmSync(home.paths.daemonFile);
  expect(await home.ok(["stop"])).toBe("Daemon stopped. No sessions were running.\n");
  expect(identify(pid)).toBeNull();
  expect(existsSync(home.paths.daemonFile) || existsSync(home.paths.socket)).toBe(false);
});

test("[DAEMON-18] a daemon without a daemon file is found by the lock that it holds", async () => {
  await using home = new Home();
  home.arm("daemon.locked", "pause");
  const child = spawn(join(import.meta.dirname, "../../bin/holdfast"), ["start", "--foreground", "--port", "0"], {
    env: home.env,
  });
  await home.reached("daemon.locked");
  expect(await info(home)).toMatchObject({ state: "starting", pid: child.pid });
  expect(await home.ok(["stop"])).toBe(
    "Daemon stopped. Its sessions keep running (holdfast start to supervise them again).\n",
  );
  expect(identify(child.pid!)).toBeNull();
  home.disarm("daemon.locked");
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

test("[DAEMON-10] the state directory and its content are private", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  expect(statSync(home.home).mode & 0o777).toBe(0o700);
  const open = readdirSync(home.home, { recursive: true, encoding: "utf8" }).filter(
    // Copies of public files, below a directory that only the owner can enter.
    (name) => !/^(builds|cache)\b/.test(name) && (statSync(join(home.home, name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});

test("[DAEMON-11] a running daemon needs no file in dist", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const mapped = readFileSync(`/proc/${home.daemon().pid}/cmdline`, "latin1").split("\0");
  expect(mapped.some((argument) => argument.startsWith(join(home.home, "builds")))).toBe(true);
  const chunks = readdirSync(home.paths.builds, { recursive: true, encoding: "utf8" });
  expect(chunks.some((name) => name.includes("chunks/"))).toBe(true);
});

test("[DAEMON-12] a requested port that is taken is an error with the next step", async () => {
  await using home = new Home();
  const other = createServer().listen(0, "127.0.0.1");
  await until("the other program", () => other.listening);
  const { port } = other.address() as { port: number };
  try {
    const ran = await home.cli(["start", "--port", String(port)]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`127.0.0.1:${port} is taken by another program of yours.`);
    expect(ran.stderr).toContain("--port 0");
  } finally {
    other.close();
  }
});

test("[DAEMON-12] the default port gives way to a free one when another program has it", async () => {
  const { home: made, other, port } = await withTakenPort();
  await using home = made;
  try {
    await home.ok(["start"]);
    expect(portOf(home)).not.toBe(port);
    expect((await info(home)).state).toBe("running");
    await home.ok(["stop"]);
  } finally {
    other.close();
  }
});

test("[DAEMON-20] the next start reuses the alternative port while it is free", async () => {
  const { home: made, other, port } = await withTakenPort();
  await using home = made;
  const servers = [other];
  try {
    await home.ok(["start"]);
    const { url } = home.daemon();
    expect(portOf(home)).not.toBe(port);
    await home.ok(["stop"]);
    await home.ok(["start"]);
    expect(home.daemon().url).toBe(url);
    await home.ok(["stop"]);
    servers.push(await takePort(Number(new URL(url).port)));
    await home.ok(["session", "ls"]);
    expect(home.daemon().url).not.toBe(url);
  } finally {
    for (const server of servers) server.close();
  }
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

test("[DAEMON-13] beyond loopback it needs a passphrase", async () => {
  await using home = new Home();
  const ran = await home.cli(["start", "--host", "0.0.0.0", "--port", "0"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("passphrase");
  expect(existsSync(home.paths.daemonFile)).toBe(false);
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

test("[DAEMON-25] a corrupt database, a newer one and a foreign file are refused and not changed", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const good = readFileSync(home.paths.database);
  const refusal = async (bytes: Buffer): Promise<string> => {
    writeFileSync(home.paths.database, bytes);
    const ran = await home.cli(["start"]);
    expect(ran.code).toBe(1);
    expect(readFileSync(home.paths.database).equals(bytes)).toBe(true);
    return withoutProgress(ran.stderr);
  };
  const corrupt = Buffer.from(good);
  corrupt.fill(0xff, 100, 4096);
  expect(await refusal(corrupt)).toBe(
    `The database ${home.paths.database} is damaged (database disk image is malformed). Nothing was deleted or overwritten.\nMove ${home.paths.database} with its -wal and -shm files to a safe place first. There is no backup in ${home.paths.backups}; sqlite3's .recover may save what is left of it.\n`,
  );
  const doctor = await home.cli(["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringContaining(`FAIL  database        The database ${home.paths.database} is damaged`),
  ]);
  const newer = Buffer.from(good);
  newer.writeUInt32BE(9999, 60);
  expect(await refusal(newer)).toMatch(
    /was written by a newer Holdfast \(its schema is 9999, this one knows \d+\)\. Nothing was written to it\.\nInstall the newer/,
  );
  expect(await refusal(Buffer.from("this is somebody's text file, not a database at all"))).toContain(
    `${home.paths.database} is not a Holdfast database, or its first bytes are damaged. Nothing was deleted or overwritten.`,
  );
  writeFileSync(home.paths.database, good);
  await home.ok(["start"]);
});

test("[DAEMON-26] a file or another program on the socket's path is not removed", async () => {
  await using home = new Home();
  mkdirSync(home.paths.run, { recursive: true, mode: 0o700 });
  writeFileSync(home.paths.socket, "mine");
  const file = await home.cli(["start", "--port", "0"]);
  expect(file.code).toBe(1);
  expect(withoutProgress(file.stderr)).toBe(
    `${home.paths.socket} is not a socket; it was not changed.\nMove it away: this is where the daemon's socket belongs.\n`,
  );
  expect(readFileSync(home.paths.socket, "utf8")).toBe("mine");
  renameSync(home.paths.socket, `${home.paths.socket}.mine`);
  const other = createServer().listen(home.paths.socket);
  await until("the other program", () => other.listening);
  try {
    const program = await home.cli(["start", "--port", "0"]);
    expect(program.code).toBe(1);
    expect(program.stderr).toContain(`Another program answers on ${home.paths.socket}; it was not changed.`);
    expect(other.listening && existsSync(home.paths.socket)).toBe(true);
  } finally {
    other.close();
  }
});

test("[DAEMON-28] half-written files of ours do not prevent a start", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.crash();
  for (const file of [home.paths.daemonFile, home.paths.launchFile]) writeFileSync(file, '{"pid": 12');
  await home.ok(["start"]);
  expect((await info(home)).state).toBe("running");
});

test("[DAEMON-28] the next start repairs a program copy and a keeper that a power cut left half written", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.crash();
  const [build] = readdirSync(home.paths.builds);
  const keeper = readdirSync(home.home).find((name) => name.startsWith("keeper-"))!;
  const files = [join(home.paths.builds, build!, "daemon.cjs"), join(home.home, keeper)];
  const whole = files.map((file) => readFileSync(file, "utf8"));
  for (const file of files) writeFileSync(file, "");
  await home.ok(["start"]);
  expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(whole);
  expect(readdirSync(home.paths.builds)).toEqual([build]);
});

test("[DAEMON-27] start and doctor explain that a file is in the place of the home", async () => {
  await using home = new Home();
  const file = join(home.directory, "file");
  writeFileSync(file, "");
  const ran = await home.cli(["start", "--port", "0"], { env: { HOLDFAST_HOME: join(file, "h") } });
  expect(ran).toMatchObject({
    code: 1,
    stderr: `Cannot use ${file}/h as HOLDFAST_HOME: ${file} is not a directory. Nothing was started.\nMove ${file} away, or set HOLDFAST_HOME to another directory.\n`,
  });
  const doctor = await home.cli(["doctor"], { env: { HOLDFAST_HOME: file } });
  expect(doctor).toMatchObject({ code: 1, stderr: "" });
  expect(doctor.stdout).toContain(`Cannot use ${file} as HOLDFAST_HOME: ${file} is not a directory.`);
});

test("[BASE-2] a home with a very long path works, with its socket elsewhere", async () => {
  await using home = new Home();
  const long = join(home.directory, "x".repeat(110));
  mkdirSync(long);
  chmodSync(long, 0o700);
  const env = { HOLDFAST_HOME: long };
  try {
    const started = await home.cli(["start", "--port", "0"], { env });
    expect(started.code).toBe(0);
    expect(started.stdout + started.stderr).toContain("longer than the 107 bytes");
    expect((await home.json<InfoJson>(["info"], { env })).state).toBe("running");
  } finally {
    await home.cli(["stop"], { env });
  }
});
