/** Sessions in dev containers through the built product: the real devcontainer CLI on a stand-in for docker. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

const root = join(import.meta.dirname, "../..");
const hasBwrap = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

interface Container {
  State: { Status: string };
  Config: { Labels: Record<string, string> };
}

test.runIf(hasBwrap)(
  "[NET-20, NET-22, NET-25] both kinds run in a container each, over a daemon's crash, until they are killed and deleted (needs bwrap)",
  async () => {
    await using home = new ChatHome({ HOLDFAST_TEST_MINUTE_MS: "300" });
    const [bin, engine] = [join(home.directory, "bin"), join(home.userHome, ".stand-in-docker")];
    mkdirSync(bin);
    symlinkSync(join(root, "test/devcontainer/docker.mjs"), join(bin, "docker"));
    symlinkSync(join(root, "node_modules/@devcontainers/cli/devcontainer.js"), join(bin, "devcontainer"));
    home.env["PATH"] = `${bin}:${home.env["PATH"]}`;
    const containers = (): Record<string, string> => {
      const names = existsSync(join(engine, "containers")) ? readdirSync(join(engine, "containers")) : [];
      const all = names.map((name) => JSON.parse(readFileSync(join(engine, "containers", name), "utf8")) as Container);
      return Object.fromEntries(all.map(({ Config, State }) => [Config.Labels["holdfast.session"], State.Status]));
    };
    await home.begin();
    writeFileSync(
      home.paths.config,
      JSON.stringify({ agents: { writer: { terminal: { command: ["sh", "-c", 'echo "$TERM" >made; exec cat'] } } } }),
    );
    const args = ["spawn", "my-app", "--contain", "devcontainer"];
    const missing = await home.cli([...args, "--agent", "demo"]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining("has no .devcontainer/devcontainer.json"),
    ]);
    mkdirSync(join(home.repo, ".devcontainer"));
    const config = '{\n  // a comment\n  "image": "debian",\n  "runArgs": ["--privileged"],\n}\n';
    writeFileSync(join(home.repo, ".devcontainer/devcontainer.json"), config);
    await home.git(home.repo, ["add", ".devcontainer"]);
    await home.git(home.repo, ["commit", "-qm", "dev container"]);
    const asked = await home.cli([...args, "--agent", "demo"]);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain("runs privileged: it can control this machine");
    expect(asked.stderr).toContain("--trust-devcontainer");
    expect(await home.json(["session", "ls"])).toEqual([]);
    expect(containers()).toEqual({});

    const trusted = [...args, "--trust-devcontainer"];
    const terminal = await home.json([...trusted, "--agent", "writer", "--kind", "terminal"], { timeoutMs: 120_000 });
    await until("the terminal's agent", () => existsSync(join(terminal.workspacePath, "made")), 60_000);
    const chat = await home.json([...trusted, "--agent", "demo", "--kind", "chat"], { timeoutMs: 120_000 });
    expect((await home.turn(chat.id, "say: one")).stopReason).toBe("end_turn");
    expect(containers()).toEqual({ [terminal.id]: "running", [chat.id]: "running" });

    await home.crash();
    await home.ok(["start", "--port", "0"]);
    expect((await home.turn(chat.id, "say: two")).stopReason).toBe("end_turn");
    expect((await home.show(terminal.id)).end).toBe(null);

    await home.ok(["session", "kill", terminal.id]);
    expect(containers()).toEqual({ [terminal.id]: "exited", [chat.id]: "running" });
    for (const { id } of [terminal, chat]) await home.ok(["session", "delete", id, "--yes"]);
    await until("the containers to be gone", () => Object.keys(containers()).length === 0);
  },
);
