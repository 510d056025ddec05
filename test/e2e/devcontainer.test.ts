/** Sessions in dev containers through the built product: the real devcontainer CLI on a stand-in for docker. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { processesNaming } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const root = join(import.meta.dirname, "../..");
const hasBwrap = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

interface Container {
  State: { Status: string };
  Config: { Labels: Record<string, string> };
}

/** A home with the real devcontainer CLI on a stand-in for docker, and an agent that writes a file. */
class ContainerHome extends ChatHome {
  readonly engine = join(this.userHome, ".stand-in-docker");

  static override async open(): Promise<ContainerHome> {
    const home = new ContainerHome({ HOLDFAST_TEST_MINUTE_MS: "300" });
    const bin = join(home.directory, "bin");
    mkdirSync(bin);
    mkdirSync(home.engine, { recursive: true });
    symlinkSync(join(root, "test/devcontainer/docker.mjs"), join(bin, "docker"));
    symlinkSync(join(root, "node_modules/@devcontainers/cli/devcontainer.js"), join(bin, "devcontainer"));
    home.env["PATH"] = `${bin}:${home.env["PATH"]}`;
    await home.begin();
    const writer = { terminal: { command: ["sh", "-c", 'echo "$TERM" >made; exec cat'] } };
    writeFileSync(home.paths.config, JSON.stringify({ agents: { writer } }));
    return home;
  }

  async describe(config: string): Promise<void> {
    mkdirSync(join(this.repo, ".devcontainer"));
    writeFileSync(join(this.repo, ".devcontainer/devcontainer.json"), config);
    await this.git(this.repo, ["add", ".devcontainer"]);
    await this.git(this.repo, ["commit", "-qm", "dev container"]);
  }

  containers(): Record<string, string> {
    const folder = join(this.engine, "containers");
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const all = names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Container);
    return Object.fromEntries(all.map(({ Config, State }) => [Config.Labels["holdfast.session"], State.Status]));
  }
}

test.runIf(hasBwrap)(
  "[NETWORK-11, NETWORK-13, NETWORK-16] both kinds run in their own containers, across a daemon crash, until they are killed and deleted (needs bwrap)",
  async () => {
    await using home = await ContainerHome.open();
    const args = ["spawn", "my-app", "--contain", "devcontainer"];
    const missing = await home.cli([...args, "--agent", "demo"]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining("has no .devcontainer/devcontainer.json"),
    ]);
    await home.describe('{\n  // a comment\n  "image": "debian",\n  "runArgs": ["--privileged"],\n}\n');
    const asked = await home.cli([...args, "--agent", "demo"]);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("runs privileged: it can control this machine");
    expect(asked.stderr).toContain("--trust-devcontainer");
    expect(await home.json(["session", "ls"])).toEqual([]);
    expect(home.containers()).toEqual({});

    const trusted = [...args, "--trust-devcontainer"];
    const terminal = await home.json([...trusted, "--agent", "writer", "--kind", "terminal"], { timeoutMs: 120_000 });
    await until("the terminal's agent", () => existsSync(join(terminal.workspacePath, "made")), 60_000);
    const chat = await home.json([...trusted, "--agent", "demo", "--kind", "chat"], { timeoutMs: 120_000 });
    expect((await home.turn(chat.id, "say: one")).stopReason).toBe("end_turn");
    expect(home.containers()).toEqual({ [terminal.id]: "running", [chat.id]: "running" });

    await home.crash();
    await home.ok(["start", "--port", "0"]);
    expect((await home.turn(chat.id, "say: two")).stopReason).toBe("end_turn");
    expect((await home.show(terminal.id)).end).toBe(null);

    await home.ok(["session", "kill", terminal.id]);
    expect(home.containers()).toEqual({ [terminal.id]: "exited", [chat.id]: "running" });
    for (const { id } of [terminal, chat]) await home.ok(["session", "delete", id, "--yes"]);
    await until("the containers to be gone", () => Object.keys(home.containers()).length === 0);
  },
);

test.runIf(hasBwrap)(
  "[NETWORK-16] a container that never starts blocks neither a kill nor a stop, and leaves nothing running (needs bwrap)",
  async () => {
    await using home = await ContainerHome.open();
    await home.describe('{"image": "debian"}');
    const silent = join(home.engine, "silent");
    const clients = () => processesNaming(join(home.directory, "bin/"));
    const spawn = ["spawn", "my-app", "--contain", "devcontainer", "--trust-devcontainer", "--agent", "writer"];
    const hanging = async (): Promise<{ id: string; over: Promise<unknown> }> => {
      const before = Object.keys(home.containers());
      const over = home.cli(spawn, { timeoutMs: 120_000 });
      const id = await until(
        "its container",
        () => Object.keys(home.containers()).find((one) => !before.includes(one)),
        60_000,
      );
      return { id, over };
    };

    writeFileSync(silent, "");
    const killed = await hanging();
    expect(clients()).not.toEqual([]);
    await home.ok(["session", "kill", killed.id]);
    await killed.over;
    await until("the engine's clients to be gone", () => clients().length === 0);
    expect(home.containers()).toEqual({ [killed.id]: "exited" });
    await home.ok(["session", "delete", killed.id, "--yes"]);

    const kept = await hanging();
    await home.ok(["stop"]);
    await kept.over;
    await until("the engine's clients to be gone", () => clients().length === 0);
    rmSync(silent);
    await home.ok(["start", "--port", "0"]);
    const { workspacePath } = await home.show(kept.id);
    await until("the agent, in its container", () => existsSync(join(workspacePath, "made")), 60_000);
    await home.ok(["session", "delete", kept.id, "--yes"]);
    await until("the containers to be gone", () => Object.keys(home.containers()).length === 0);
  },
);
