import { spawn } from "node:child_process";
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
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { identify } from "../../src/base/pid.ts";
import type { InfoJson } from "../../src/contract/daemon.ts";
import { Home } from "../harness/home.ts";
import { until } from "../harness/until.ts";

/** What a start that takes more than two seconds prints meanwhile. */
const withoutProgress = (stderr: string): string =>
  stderr.replaceAll("Still starting. See `holdfast logs` for progress.\n", "");

const info = (home: Home): Promise<InfoJson> => home.json<InfoJson>(["info"]);

test("[HOME-2] a relative home is the same for the command and for the daemon", async () => {
  await using home = new Home();
  const here = { cwd: dirname(home.home), env: { HOLDFAST_HOME: basename(home.home) } };
  expect(await home.cli(["start", "--port", "0"], here)).toMatchObject({ code: 0 });
  expect((await info(home)).home).toBe(home.home);
  expect(existsSync(join(home.home, basename(home.home)))).toBe(false);
  expect((await home.cli(["stop"], here)).stdout).toBe("Daemon stopped. No sessions were running.\n");
});

/** The daemon's compiled code, and how often the file has it. */
function compiledCode(home: Home): { path: string; copies: Buffer[] } {
  const cache = join(home.home, "cache");
  const [name = "", ...more] = readdirSync(cache).filter((each) => /^daemon-main-.*\.code$/.test(each));
  expect(more).toEqual([]);
  const bytes = readFileSync(join(cache, name));
  const half = bytes.length / 2;
  return { path: join(cache, name), copies: [bytes.subarray(0, half), bytes.subarray(half)] };
}

test("[DAEMON-17] code compiled at a start is stored in the home, and the next one uses it as it is", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const { path, copies } = compiledCode(home);
  // All that the start called: what runs while the file is loaded comes to 400 kB.
  expect(copies[0]!.length).toBeGreaterThan(500_000);
  expect(copies[0]!.equals(copies[1]!)).toBe(true);
  const written = statSync(path);
  await home.ok(["start"]);
  await home.ok(["stop"]);
  expect(statSync(path)).toMatchObject({ ino: written.ino, mtimeMs: written.mtimeMs });
});

test("[DAEMON-17] damaged code is replaced, not run", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const { path, copies } = compiledCode(home);
  const whole = readFileSync(path);
  for (const damaged of [Buffer.from(whole).fill(0, 5_000, 9_000), whole.subarray(0, 8_192), Buffer.alloc(0)]) {
    writeFileSync(path, damaged);
    await home.ok(["start"]);
    await home.ok(["stop"]);
    const now = compiledCode(home).copies;
    expect(now[0]!.length).toBeGreaterThan(copies[0]!.length / 2);
    expect(now[0]!.equals(now[1]!)).toBe(true);
  }
});

test("[DAEMON-17] code that cannot be stored leaves nothing behind and stops no start", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const { path } = compiledCode(home);
  rmSync(path);
  mkdirSync(path);
  await home.ok(["start"]);
  await home.ok(["stop"]);
  expect(readdirSync(dirname(path)).filter((name) => /\.code\.\d+$/.test(name))).toEqual([]);
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
