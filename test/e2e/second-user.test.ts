/** Another user of the machine, created for this test, against a running home below open directories. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

const has = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const canRun =
  process.getuid?.() !== 0
    ? "only root can make a user"
    : !has("useradd") || !has("userdel") || !has("setpriv")
      ? "useradd, userdel or setpriv is missing"
      : null;

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** Removed at the end, whatever happens. */
function makeUser(): { uid: string; gid: string } & Disposable {
  const name = `hf-${randomBytes(4).toString("hex")}`;
  run("useradd", ["--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/sh", name]);
  const remove = (): void => void run("userdel", [name]);
  try {
    return { uid: run("id", ["-u", name]), gid: run("id", ["-g", name]), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

interface Wanted {
  files: string[];
  directories: string[];
  sockets: string[];
  tmux: string;
  url: string;
  writes: boolean;
  secrets: Record<string, string>;
}

/** Runs as the other user; prints the output. */
const probe = `
const { readFileSync, readdirSync, writeFileSync } = require("node:fs");
const { connect } = require("node:net");
const { spawnSync } = require("node:child_process");
const wanted = JSON.parse(readFileSync(0, "utf8"));
const got = [];
const attempt = (what, run) => { try { if (run() !== false) got.push(what); } catch {} };
for (const path of wanted.files) {
  attempt("read " + path, () => void readFileSync(path));
  if (wanted.writes) attempt("wrote " + path, () => void writeFileSync(path, "", { flag: "r+" }));
}
for (const path of wanted.directories) {
  attempt("listed " + path, () => void readdirSync(path));
  if (wanted.writes) attempt("made a file in " + path, () => void writeFileSync(path + "/by-another", "x"));
}
attempt("tmux", () => spawnSync("tmux", ["-S", wanted.tmux, "list-sessions"]).status === 0);
// What ps shows, for every process, polled often.
for (let round = 0; round < 20; round++) for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
  for (const file of ["cmdline", "environ"]) attempt("", () => {
    const text = readFileSync("/proc/" + pid + "/" + file, "utf8");
    for (const [name, secret] of Object.entries(wanted.secrets)) if (text.includes(secret)) got.push(name + " in " + file + " of " + text.slice(0, 80));
    return false;
  });
}
const connected = (options) => new Promise((resolve) => {
  const socket = connect(options, () => { socket.destroy(); resolve(true); });
  socket.on("error", () => resolve(false));
});
(async () => {
  for (const path of wanted.sockets) if (await connected({ path })) got.push("connected " + path);
  const { url } = wanted;
  for (const path of ["/api/sessions", "/api/info", "/api/settings", "/openapi.json"]) {
    const { status } = await fetch(url + path);
    if (status !== 401) got.push(path + ": " + status);
  }
  // The path is accessible, so nothing above failed for lack of access to it.
  const health = (await fetch(url + "/api/health")).status;
  console.log(JSON.stringify({ got: [...new Set(got)], uid: process.getuid(), health }));
})();
`;

test.skipIf(canRun !== null)(
  `[PROOF-2] a second local user reads, lists and reaches nothing of a running home${canRun === null ? "" : ` (skipped: ${canRun})`}`,
  async () => {
    const secrets = {
      prompt: `canary-prompt-${randomBytes(8).toString("hex")}`,
      env: `canary-env-${randomBytes(8).toString("hex")}`,
    };
    await using home = await ProjectHome.make();
    using user = makeUser();
    const config = { projects: { "my-app": { path: ".", prefix: "ma", env: { MY_SECRET: secrets.env } } } };
    writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify(config));
    await home.ok(["project", "add", home.repo]);
    const { id: terminal } = await home.spawn();
    const { id: chat } = await home.json([
      "spawn",
      "my-app",
      "--agent",
      "demo",
      "--kind",
      "chat",
      "--prompt",
      secrets.prompt,
    ]);
    const killed = await home.spawn();
    await home.status(terminal, "idle");
    await home.ok(["send", terminal, secrets.prompt]);
    await home.status(terminal, "idle");
    await home.status(chat, "idle");
    const agents = await Promise.all([terminal, chat].map(async (id) => (await home.agent(id)).pid));
    await home.ok(["session", "kill", killed.id]);
    const [entry] = await home.json<{ id: string }[]>(["trash", "ls"]);
    const { stdout: link } = await home.cli(["dashboard", "--no-open"]);
    const { paths } = home;
    // Directories above the home may be open, as /home and a user's own directory often are.
    chmodSync(home.directory, 0o755);
    const token = readFileSync(paths.token, "utf8").trim();
    const { pid, url } = home.daemon();
    const worktree = (await home.show(terminal)).workspacePath;
    const wanted: Wanted = {
      files: [
        paths.token,
        paths.database,
        paths.daemonFile,
        paths.launchFile,
        join(worktree, "README.md"),
        join(paths.trash, entry!.id, "entry.json"),
        ...[pid, ...agents].map((each) => `/proc/${each}/environ`),
      ],
      directories: [
        paths.home,
        paths.run,
        paths.logs,
        paths.worktrees,
        paths.trash,
        paths.workers,
        paths.launches,
        worktree,
        join(paths.trash, entry!.id, "tree"),
        ...[pid, ...agents].flatMap((each) => [`/proc/${each}/fd`, `/proc/${each}/cwd/`]),
        `/tmp/tmux-${process.getuid!()}`,
      ],
      sockets: [paths.socket],
      tmux: `/tmp/tmux-${process.getuid!()}/${paths.tmuxSocket}`,
      url,
      writes: true,
      secrets: { ...secrets, token, code: /login=([\w-]+)/.exec(link)?.[1] ?? "no code" },
    };
    expect(wanted.secrets["code"]).not.toBe("no code");
    // Node itself must be open to the other user, or every probe would fail for the wrong reason.
    accessSync(process.execPath, constants.X_OK);
    const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
    const as = (uids: string[], more: Partial<Wanted> = {}): { got: string[]; uid: number; health: number } => {
      const ran = spawnSync("setpriv", [...uids, "--", process.execPath, "-e", probe], {
        input: JSON.stringify({ ...wanted, ...more }),
        encoding: "utf8",
        cwd: "/",
        env: { PATH: process.env["PATH"] ?? "" },
      });
      if (ran.status !== 0) throw new Error(ran.stderr);
      return JSON.parse(ran.stdout) as { got: string[]; uid: number; health: number };
    };
    const other = as(ids);
    expect(other).toEqual({ got: [], uid: Number(user.uid), health: 200 });
    // The same attempts as the owner succeed: none of them failed for another reason.
    const { got } = as([], { writes: false });
    for (const path of wanted.files) expect(got).toContain(`read ${path}`);
    expect(got).toEqual(expect.arrayContaining(["tmux", `connected ${paths.socket}`, `listed ${paths.home}`]));
    expect(got.some((line) => line.startsWith("env in environ"))).toBe(true);
    await until("the policies to have run", async () => (await home.show(chat)).status === "idle");
  },
);
