/** Which variables of the user's shell reach the daemon and which agents. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FindingJson } from "../../src/contract/daemon.ts";
import { ProjectHome } from "../harness/project.ts";

const variables = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .map((entry) => entry.split("=", 1)[0]!);

test("[CLI-42] variables that files name reach the daemon; [CLI-41] agents of that project receive those of passEnv", async () => {
  await using home = await ProjectHome.make();
  const doctor = async (options = {}): Promise<FindingJson[]> =>
    (JSON.parse((await home.cli(["doctor", "--json"], options)).stdout) as FindingJson[]).filter(
      ({ check }) => check === "environment",
    );
  const other = await home.repository("other");
  await home.ok(["project", "add", other]);
  const tracker = { type: "github", repo: "owner/app", tokenEnv: "MY_TOKEN", baseUrl: "http://127.0.0.1:9" };
  writeFileSync(home.paths.config, 'trackers: {"127.0.0.1:9": {type: github, tokenEnv: MY_TOKEN}}');
  const named = { path: ".", prefix: "ma", passEnv: ["MY_ONE", "ACME_*"], tracker };
  writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify({ projects: { "my-app": named } }));
  await home.ok(["project", "add", home.repo]);
  const file = join(home.repo, "holdfast.yaml");
  expect(await doctor()).toMatchObject([
    { level: "warn", message: `The running daemon does not have MY_TOKEN, which ${home.paths.config} names.` },
    { level: "warn", message: `The running daemon does not have MY_ONE, which ${file} names.` },
  ]);
  const shell = { env: { MY_ONE: "1", ACME_A: "2", MY_TOKEN: "3", OTHER_TOKEN: "4" } };
  await home.ok(["restart"], shell);
  expect(await doctor(shell)).toMatchObject([
    { level: "info", message: "Variables in this shell that are not passed to agents: OTHER_TOKEN" },
  ]);
  const all = Object.keys(shell.env);
  const passed = (names: string[]) => all.filter((name) => names.includes(name));
  expect(passed(variables(home.daemon().pid))).toEqual(["MY_ONE", "ACME_A", "MY_TOKEN"]);
  for (const kind of ["terminal", "chat"]) {
    const spawn = async (project: string): Promise<string[]> => {
      const { id } = await home.json(["spawn", project, "--agent", "demo", "--kind", kind]);
      return passed(variables((await home.agent(id)).pid));
    };
    expect(await spawn("my-app")).toEqual(["MY_ONE", "ACME_A"]);
    expect(await spawn("other")).toEqual([]);
  }
});

test("[CLI-44] an agent's own PATH is where its program is found, by spawn and doctor alike", async () => {
  await using home = await ProjectHome.make();
  const tools = join(home.directory, "tools");
  mkdirSync(tools);
  writeFileSync(join(tools, "mine"), "#!/bin/sh\nexec cat\n");
  chmodSync(join(tools, "mine"), 0o755);
  const write = (env: Record<string, string>): void => {
    const agents = { mine: { terminal: { command: ["mine"] }, env } };
    writeFileSync(
      join(home.repo, "holdfast.yaml"),
      JSON.stringify({ projects: { "my-app": { prefix: "ma" } }, agents }),
    );
  };
  const spawn = ["spawn", "my-app", "--agent", "mine"];
  write({});
  await home.ok(["project", "add", home.repo]);
  expect((await home.cli(spawn)).stderr).toContain("mine was not found on PATH.");
  // The same from a shell that has it: installing it would not help.
  const shell = { env: { PATH: `${tools}:${home.env["PATH"]}` } };
  const refused = await home.cli(spawn, shell);
  expect(refused.stderr).toContain(`mine is not on the daemon's PATH. This shell finds it at ${join(tools, "mine")}`);
  expect(refused.stderr).toContain("Run `holdfast restart` here");
  const doctor = async (): Promise<FindingJson[]> =>
    JSON.parse((await home.cli(["doctor", "--json"], shell)).stdout) as FindingJson[];
  expect(await doctor()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: "agent mine of my-app", level: "warn" }) as FindingJson,
      expect.objectContaining({
        check: "environment",
        message: expect.stringContaining(tools) as string,
      }) as FindingJson,
    ]),
  );
  write({ PATH: `${tools}:/usr/bin:/bin` });
  const { id } = await home.json(spawn);
  expect((await home.agent(id)).pid).toBeGreaterThan(0);
  expect((await doctor()).find(({ check }) => check === "agent mine of my-app")?.level).toBe("ok");
});

test("[SESSION-20] an agent defined in a holdfast.yaml that broke later restarts, across a daemon restart too", async () => {
  await using home = await ProjectHome.make();
  const agents = { mine: { terminal: { command: ["sh", "-c", "exec cat"] } } };
  const file = join(home.repo, "holdfast.yaml");
  writeFileSync(file, JSON.stringify({ projects: { "my-app": { prefix: "ma" } }, agents }));
  await home.ok(["project", "add", home.repo]);
  const { id } = await home.json(["spawn", "my-app", "--agent", "mine"]);
  writeFileSync(file, "projects: [");
  await home.ok(["restart"]);
  await home.ok(["session", "stop", id]);
  await home.ok(["session", "restore", id]);
  expect((await home.agent(id)).pid).toBeGreaterThan(0);
});
