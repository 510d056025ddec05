/** Contained sessions through the built product, in both kinds. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { firstWithin, pidNamespace } from "../../src/base/pid-namespace.ts";
import { listProcesses } from "../../src/base/pid.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

/** Tries what a hostile agent would, records the results in the worktree, commits, leaves a process tree and waits. */
const attacks = (home: ChatHome): string => String.raw`
try() { name=$1; shift; if ("$@") >/dev/null 2>&1; then echo "$name: done"; else echo "$name: refused"; fi >>results; }
try "ssh key" cat ~/.ssh/id_ed25519
try "gh token" cat ~/.config/gh/hosts.yml
try "holdfast token" cat ${home.paths.token}
try "holdfast database" cat ${home.paths.database}
try "daemon's socket" test -e ${home.paths.socket}
try "tmux socket" test -e /tmp/tmux-$(id -u)
try "git hook" sh -c 'echo x >${home.repo}/.git/hooks/post-commit'
try "git config" git config core.fsmonitor "touch /tmp/x"
try "worktree config" sh -c 'echo x >"$(git rev-parse --git-dir)/config.worktree"'
try "git pointer" sh -c 'echo "gitdir: /tmp" >.git'
try "git pointer by rename" mv .git .gone
try "branch main" git update-ref refs/heads/main HEAD~0 0000000000000000000000000000000000000000
try "branch elsewhere" git branch other
try "shared objects" sh -c 'rm -rf ${home.repo}/.git/objects/info'
try "alternates" sh -c 'echo /tmp >${home.repo}/.git/objects/info/alternates'
try "the machine" sh -c 'echo x >/etc/planted'
try "namespaces" unshare -U true
try "network" sh -c 'exec 3<>/dev/tcp/127.0.0.1/${new URL(home.daemon().url).port}'
try "typing" perl -e 'my $key = "x"; exit(ioctl(STDIN, 0x5412, $key) ? 0 : 1)'
try "own branch" git branch holdfast/ma-1/second
echo planted >${home.repo}/planted
tr '\0' '\n' </proc/1/environ >environment
ls /proc/1/fd >descriptors
rm -rf ~ ${home.repo}/.git/objects ${home.directory}/user 2>/dev/null
echo one >work.txt && git add work.txt && git commit -qm "from inside"
(setsid sh -c 'trap "" TERM HUP; env -i sleep 1000 & while :; do sleep 1; done' &)
echo over >>results
exec cat
`;

function prepare(home: ChatHome): void {
  for (const [name, text] of [
    [".ssh/id_ed25519", "key"],
    [".config/gh/hosts.yml", "token"],
  ] as const) {
    mkdirSync(join(home.userHome, name, ".."), { recursive: true });
    writeFileSync(join(home.userHome, name), text);
  }
}

/** The user's own configuration, for which no trust is needed. */
function configure(home: ChatHome, config: object): void {
  writeFileSync(home.paths.config, JSON.stringify(config));
}

function inside(namespace: string | null): number[] {
  return listProcesses().flatMap(({ pid }) => (pidNamespace(pid) === namespace ? [pid] : []));
}

test("[CONTAIN-1, CONTAIN-2, CONTAIN-4, CONTAIN-7, CONTAIN-11] a hostile agent destroys only its own files, its commit is imported, and all its processes stop", async () => {
  await using home = new ChatHome({ GITHUB_TOKEN: "ghp_secret", SSH_AUTH_SOCK: "/run/agent.sock" });
  prepare(home);
  await home.begin();
  configure(home, { agents: { attacker: { terminal: { command: ["bash", "-c", attacks(home)] } } } });
  const main = await home.git(home.repo, ["rev-parse", "main"]);
  const args = ["spawn", "my-app", "--agent", "attacker", "--kind", "terminal", "--contain", "worktree"];
  const { id, workspacePath, contain, branch } = await home.json([...args, "--network", "off"]);
  expect({ contain, branch }).toEqual({
    contain: { mode: "worktree", network: "off", read: [], write: [] },
    branch: `holdfast/${id}/work`,
  });
  const read = (name: string): string => readFileSync(join(workspacePath, name), "utf8");
  await until(
    "the attacks to be over",
    () => existsSync(join(workspacePath, "results")) && /^over$/m.test(read("results")),
  );
  const notRefused = read("results")
    .split("\n")
    .filter((line) => line.endsWith(": done"));
  expect(notRefused).toEqual(["own branch: done"]);
  expect(read("environment")).not.toMatch(/^(GITHUB_TOKEN|SSH_AUTH_SOCK|HOLDFAST_HOME|TMUX)=/m);
  // Of the launch's descriptors only the three of the terminal, and bwrap's own.
  expect(read("descriptors").split("\n").filter(Boolean)).toHaveLength(4);
  expect(readFileSync(join(home.userHome, ".ssh/id_ed25519"), "utf8")).toBe("key");
  expect(existsSync(join(home.repo, "planted"))).toBe(false);

  const { pid } = await home.agent(id);
  const namespace = pidNamespace(firstWithin(pid)!.pid);
  await until("its tree to stand", () => inside(namespace).length > 3);
  await home.crash();
  await home.ok(["start", "--port", "0"]);
  expect((await home.agent(id)).pid).toBe(pid);
  await home.ok(["session", "kill", id]);
  expect(inside(namespace)).toEqual([]);
  const { end } = await home.show(id);
  expect(end).toMatchObject({ how: "stopped" });

  expect(await home.git(home.repo, ["log", "-1", "--format=%s", branch!])).toBe("from inside");
  expect(await home.git(home.repo, ["rev-parse", "main"])).toBe(main);
  await home.git(home.repo, ["fsck", "--strict"]);
  await home.ok(["session", "restore", id]);
  await until("the agent to be back", () => /^over$/m.test(read("results")));
  expect((await home.show(id)).contain?.network).toBe("off");
});

test("[CONTAIN-3, CONTAIN-5, CONTAIN-9] a contained chat keeps its own state across a restart, a conversion and a kill, until it is deleted", async () => {
  await using home = new ChatHome({ HOLDFAST_TEST_MINUTE_MS: "300" });
  prepare(home);
  await home.begin();
  configure(home, { defaults: { contain: { mode: "worktree", write: ["npm"] } } });
  const { id, contain } = await home.json(["spawn", "my-app", "--agent", "demo", "--kind", "chat"]);
  expect(contain).toEqual({ mode: "worktree", network: "on", read: [], write: ["npm"] });
  expect(await home.ok(["session", "show", id])).toMatch(/Contained: +worktree, network on; also npm \(writable\)/);
  expect((await home.turn(id, "remember: one")).stopReason).toBe("end_turn");
  const own = join(home.paths.contained, id);
  const kept = join(own, "home/.local/state/holdfast-demo");
  expect(readdirSync(kept)).toHaveLength(1);
  expect(existsSync(join(home.userHome, ".local/state/holdfast-demo"))).toBe(false);

  const before = await home.agent(id);
  await home.crash();
  await home.ok(["start", "--port", "0"]);
  expect(await home.agent(id)).toEqual(before);
  expect((await home.turn(id, "remember: two")).stopReason).toBe("end_turn");
  await home.ok(["session", "stop", id]);
  await home.ok(["session", "restore", id]);
  expect((await home.turn(id, "again")).text).toContain("3");
  await home.ok(["session", "convert", id, "--kind", "terminal"]);
  await home.status(id, "idle");
  expect(await home.ok(["session", "screen", id])).toContain("resumed with 3 turns");
  await home.ok(["session", "kill", id]);
  expect(readdirSync(kept)).toHaveLength(1);
  await home.ok(["session", "delete", id, "--yes"]);
  await until("its own state to be gone", () => !existsSync(own));
});

test("[CONTAIN-6] without bubblewrap nothing starts: a spawn is refused, and a restore fails with the reason", async () => {
  await using home = await ChatHome.open();
  const { id } = await home.json(["spawn", "my-app", "--agent", "demo", "--kind", "chat", "--contain", "worktree"]);
  await home.ok(["session", "stop", id]);
  const bin = join(home.directory, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n");
  chmodSync(join(bin, "bwrap"), 0o755);
  home.env["PATH"] = `${bin}:${home.env["PATH"]}`;
  await home.ok(["restart"]);
  const spawned = await home.cli(["spawn", "my-app", "--agent", "demo", "--contain", "worktree"]);
  expect(spawned.code).toBe(1);
  expect(spawned.stderr).toContain("does not let ordinary programs create user namespaces");
  await home.cli(["session", "restore", id]);
  const failed = await home.status(id, "failed");
  expect(failed.reason).toContain("bubblewrap cannot start");
  expect(failed.processes).toEqual([]);
  const doctor = await home.cli(["doctor"]);
  expect(doctor.stdout).toContain("bubblewrap cannot start");
});
