/** The real devcontainer CLI on a stand-in for docker: what is asked of the engine, and what the agent then has. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homePrefix, homesDirectory } from "../../../test/harness/home.ts";
import { isRunning } from "../../../test/harness/marked.ts";
import { until } from "../../../test/harness/until.ts";
import type { ContainRequest } from "../../ports/contain.ts";
import type { Containment } from "../../contract/containment.ts";
import { asLaunchId, asProjectId, asSessionId } from "../../contract/ids.ts";
import { sampleSession } from "../../ports/runtime-contract.fixture.ts";
import { Devcontainers } from "./devcontainer.ts";

const root = join(import.meta.dirname, "../../..");
const hasBwrap = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
const containment: Containment = { mode: "devcontainer", network: "off", read: [], write: [] };

class World implements Disposable {
  readonly home = mkdtempSync(join(homesDirectory, homePrefix(process.env["HOLDFAST_TEST_RUN"] ?? "dev")));
  readonly repository = join(this.home, "app");
  readonly worktree = join(this.home, "work");
  readonly own = join(this.home, "own");
  readonly engine = join(this.home, "user/.stand-in-docker");
  readonly bin = join(this.home, "bin");
  trusted = true;
  readonly session = sampleSession({
    id: asSessionId("ma-1"),
    project: asProjectId("app"),
    agent: "shell",
    workspacePath: this.worktree,
    branch: "holdfast/ma-1/work",
  });
  readonly #children: ChildProcess[] = [];

  constructor() {
    for (const folder of [this.repository, this.own, this.bin, join(this.home, "user")]) mkdirSync(folder);
    symlinkSync(join(root, "test/devcontainer/docker.mjs"), join(this.bin, "docker"));
    symlinkSync(join(root, "node_modules/@devcontainers/cli/devcontainer.js"), join(this.bin, "devcontainer"));
    this.git(this.repository, "init", "-q", "-b", "main");
    mkdirSync(join(this.repository, ".devcontainer"));
    const config = {
      image: "debian",
      initializeCommand: `touch ${this.home}/escaped`,
      postCreateCommand: "touch made",
    };
    writeFileSync(join(this.repository, ".devcontainer/devcontainer.json"), JSON.stringify(config));
    this.git(this.repository, "add", "-A");
    this.git(this.repository, "commit", "-q", "-m", "first");
    this.git(this.repository, "worktree", "add", "-q", "-b", this.session.branch, this.worktree);
  }

  get env(): NodeJS.ProcessEnv {
    const path = `${this.bin}:${process.env["PATH"]}`;
    return {
      PATH: path,
      HOME: join(this.home, "user"),
      HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"],
    };
  }

  git(folder: string, ...args: string[]): string {
    const who = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    const ran = spawnSync("git", ["-C", folder, ...who, ...args], { encoding: "utf8" });
    if (ran.status !== 0) throw new Error(ran.stderr);
    return ran.stdout.trim();
  }

  open(env: NodeJS.ProcessEnv = this.env): Devcontainers {
    return new Devcontainers({
      home: join(this.home, "h"),
      hidden: [join(this.home, "h")],
      env,
      isTrusted: () => this.trusted,
    });
  }

  request(script: string, launch: string): ContainRequest {
    const directory = join(this.home, "launches", launch);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "hook.sh"), 'echo "$1" >> "${0%/*}/hooks.jsonl"\n', { mode: 0o755 });
    const env = {
      PATH: "/outside",
      HOME: "/outside",
      HOLDFAST_LAUNCH: launch,
      HOLDFAST_HOOKS: directory,
      MY_API_KEY: "it's secret",
    };
    const argv = ["sh", "-c", script];
    return {
      session: this.session,
      launch: asLaunchId(launch),
      argv,
      command: ["sh"],
      env,
      given: ["MY_API_KEY", "HOLDFAST_HOOKS"],
      directory,
      files: ["hook.sh"],
      hooks: true,
      ownFolders: [],
    };
  }

  start({ argv, env }: { argv: string[]; env: Record<string, string> }): { child: ChildProcess; said: () => string } {
    const child = spawn(argv[0]!, argv.slice(1), { env, cwd: this.worktree });
    this.#children.push(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => void (said += bytes.toString()));
    return { child, said: () => said };
  }

  calls(): string[][] {
    const text = readFileSync(join(this.engine, "calls.jsonl"), "utf8").trim();
    return text.split("\n").map((line) => JSON.parse(line) as string[]);
  }

  containers(): string[] {
    return existsSync(join(this.engine, "containers")) ? readdirSync(join(this.engine, "containers")) : [];
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const id of this.containers()) spawnSync(join(this.bin, "docker"), ["rm", id], { env: this.env });
    rmSync(this.home, { recursive: true });
  }
}

test.runIf(hasBwrap)(
  "[NETWORK-11, NETWORK-13, NETWORK-14, NETWORK-16] an agent works and commits in its container, and ends with it (needs bwrap)",
  async () => {
    using world = new World();
    const devcontainers = world.open();
    const agent = [
      'echo "key $MY_API_KEY"; ls made; "$HOLDFAST_HOOKS/hook.sh" begun',
      "git -c user.name=A -c user.email=a@localhost commit -q --allow-empty -m inside && git log -1 --format=%s",
      `touch ${world.repository}/.git/config 2>/dev/null || echo config kept`,
      // Whatever it writes there counts for no later launch.
      `echo '{"image": "other", "runArgs": ["--privileged"]}' > .devcontainer/devcontainer.json`,
      "read line; echo got $line; sleep 300",
    ].join("; ");
    const contained = await devcontainers.contain(world.request(agent, "l1"), containment, world.own);
    // Nothing secret is in a command line, or in the environment of the process outside.
    expect(JSON.stringify(contained)).not.toContain("secret");
    const { child, said } = world.start(contained);
    child.stdin?.write("hello\n");
    await until("the agent", () => said().includes("got hello"), 60_000);
    expect(said()).toBe("key it's secret\nmade\ninside\nconfig kept\ngot hello\n");
    expect(readFileSync(join(world.home, "launches/l1/hooks.jsonl"), "utf8")).toBe("begun\n");
    expect(existsSync(join(world.home, "escaped"))).toBe(false);
    expect(JSON.stringify(world.calls())).not.toContain("secret");
    const run = world.calls().find(([verb]) => verb === "run")!;
    expect(run).toEqual(expect.arrayContaining(["--network=none", `holdfast.session=ma-1`]));
    expect(run).toContain(`type=bind,source=${world.repository}/.git,target=${world.repository}/.git,readonly`);

    // The client dies as with a kill; the agent in the container does not, until the container ends.
    const [id] = world.containers();
    child.kill("SIGKILL");
    const inside = Number(JSON.parse(readFileSync(join(world.engine, "containers", id!), "utf8")).Pids.at(-1));
    expect(isRunning(inside)).toBe(true);
    expect(await world.open().stop(world.session.id, true)).toEqual([]);
    await until("the agent in the container to be gone", () => !isRunning(inside));

    // The next launch starts the same container, with the configuration that was trusted.
    const again = await devcontainers.contain(world.request("echo again; exit 4", "l2"), containment, world.own);
    const second = world.start(again);
    await until("its end", () => second.child.exitCode !== null);
    expect([second.said(), second.child.exitCode]).toEqual(["again\n", 4]);
    expect(world.containers()).toEqual([id]);

    await devcontainers.reconcile(() => "running");
    expect(world.calls().at(-1)![0]).toBe("ps");
    await devcontainers.reconcile(() => "down");
    expect(JSON.parse(readFileSync(join(world.engine, "containers", id!), "utf8")).State.Status).toBe("exited");
    await devcontainers.reconcile(() => "deleted");
    expect(world.containers()).toEqual([]);
  },
);

test.runIf(hasBwrap)(
  "[NETWORK-11, NETWORK-15] without CLI, engine or trust nothing is made; rights that appear later end the container (needs bwrap)",
  async () => {
    using world = new World();
    const request = world.request("true", "l1");
    const bare = { ...world.env, PATH: "/nonexistent" };
    expect(await world.open(bare).preflight(containment)).toEqual([
      expect.stringContaining("devcontainer is not on the daemon's PATH"),
      expect.stringContaining("No container engine"),
    ]);
    await expect(world.open(bare).contain(request, containment, world.own)).rejects.toThrow(
      "npm install -g @devcontainers/cli",
    );
    expect(await world.open().preflight({ network: { allow: [] } })).toEqual([
      expect.stringContaining("no network allow list"),
    ]);
    world.trusted = false;
    await expect(world.open().contain(request, containment, world.own)).rejects.toThrow("is not trusted");
    expect(world.containers()).toEqual([]);

    world.trusted = true;
    writeFileSync(join(world.engine, "extra.json"), '{"Privileged": true}');
    await expect(world.open().contain(request, containment, world.own)).rejects.toThrow(
      "adds rights that devcontainer.json does not name: runs privileged",
    );
    expect(world.containers()).toEqual([]);
    expect(existsSync(join(world.worktree, "made"))).toBe(false);

    writeFileSync(join(world.engine, "broken"), "");
    expect(await world.open().preflight(containment)).toEqual([
      expect.stringContaining("Is the docker daemon running?"),
    ]);
    expect(await world.open().stop(world.session.id, true)).toEqual([
      { pid: 0, what: "its container: the container engine does not respond" },
    ]);
    rmSync(join(world.engine, "broken"));
  },
);
