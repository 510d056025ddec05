/** The demo agent as a program, driven by the official ACP client: each step, and what becomes of it when it is killed. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestPermissionRequest, SessionUpdate } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ConnectedAgent, demoAgent, pick } from "../../../test/acp-agents/connect.ts";
import type { ConnectOptions } from "../../../test/acp-agents/connect.ts";
import { isRunning } from "../../../test/harness/marked.ts";
import { until } from "../../../test/harness/until.ts";
import { DemoConversation } from "./conversation.ts";

let directory: string;
let cwd: string;
let conversations: string;
let shared: ConnectedAgent;
let permit: NonNullable<ConnectOptions["permit"]>;
let counter = 0;

beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "demo-acp-")));
  conversations = join(directory, "conversations");
  mkdirSync(join(directory, "gates"));
  shared = start({ permit: (asked) => permit(asked) });
});
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  cwd = join(directory, `work-${counter++}`);
  mkdirSync(cwd);
});

const start = ({ env, ...options }: ConnectOptions = {}): ConnectedAgent =>
  new ConnectedAgent(demoAgent, {
    env: { HOLDFAST_DEMO_CONVERSATIONS: conversations, HOLDFAST_DEMO_GATES: join(directory, "gates"), ...env },
    ...options,
  });

/** The process that all tests use which do not end it: many sessions in one. */
const share = (answer: typeof permit = async (asked) => pick(asked, "allow_once")): ConnectedAgent => {
  permit = answer;
  shared.updates.length = 0;
  return shared;
};
const openGate = (name: string): void => writeFileSync(join(directory, "gates", name), "");
const load = { mcpServers: [] };

test("[DEMO-1] it announces its capabilities, and supports each of them", async () => {
  const demo = share();
  const { agentCapabilities, authMethods, protocolVersion } = await demo.initialize();
  expect([protocolVersion, authMethods]).toEqual([1, []]);
  expect(agentCapabilities).toMatchObject({
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
  });
  const opened = await demo.agent.request("session/new", { cwd, mcpServers: [] });
  expect(opened.modes).toMatchObject({ currentModeId: "default" });
  expect(opened.configOptions).toMatchObject([{ id: "model", currentValue: "demo-small" }]);
  const commands = await until("the commands", () => demo.of("available_commands_update")[0]);
  expect(commands.availableCommands.map(({ name }) => name)).toEqual(["help", "history", "clear"]);
  await expect(demo.agent.request("session/new", { cwd: join(cwd, "gone"), mcpServers: [] })).rejects.toMatchObject({
    code: -32602,
  });
});

test("[DEMO-2] text, thoughts, plans, ticks and floods are shown in the order of the prompt's lines", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  const lines = [
    "say: hello  there",
    "think: hm",
    "plan: one, two",
    "slow: 3 x 1ms",
    "flood: 250",
    "wait: 1ms",
    "mode?",
    "model?",
  ];
  expect(await demo.prompt(id, lines.join("\n"))).toEqual({ stopReason: "end_turn" });
  const ticks = "tick 1/3\ntick 2/3\ntick 3/3\n";
  const flood = `${"x".repeat(99)}\n`.repeat(2) + `${"x".repeat(49)}\n`;
  expect(demo.text()).toBe(`hello  there\n${ticks}${flood}mode: default\nmodel: demo-small\n`);
  expect(demo.text("agent_thought_chunk")).toBe("hm");
  expect(demo.of("plan").map(({ entries }) => entries.map(({ status }) => status))).toEqual([
    ["in_progress", "pending"],
    ["completed", "completed"],
  ]);
  expect(demo.of("agent_message_chunk").length).toBeGreaterThan(8);
  expect(demo.of("usage_update")).toMatchObject([{ size: 200_000 }]);
  expect(demo.of("session_info_update")).toMatchObject([{ title: "say: hello  there" }]);
  const order = demo.updates.map(({ update }) => update.sessionUpdate).filter((kind) => /chunk|^plan/.test(kind));
  expect(order.indexOf("agent_thought_chunk")).toBeLessThan(order.indexOf("plan"));
});

test("[DEMO-2] a prompt without steps gets a turn that thinks, plans, runs a tool and answers in markdown", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  expect(await demo.prompt(id, "What can you do?")).toEqual({ stopReason: "end_turn" });
  expect(demo.text("agent_thought_chunk")).not.toBe("");
  expect(
    demo
      .of("plan")
      .at(-1)!
      .entries.map(({ status }) => status),
  ).toEqual(["completed", "completed", "completed"]);
  expect(demo.of("tool_call")).toMatchObject([{ kind: "execute", title: "ls" }]);
  expect(demo.text()).toMatch(/^\*\*You said:\*\* What can you do\?\n\n[^]*```sh\n/);
});

test("[DEMO-2] images, files and links of a prompt arrive", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  const image = { type: "image" as const, mimeType: "image/png", data: Buffer.from("1234567").toString("base64") };
  const file = { type: "resource" as const, resource: { uri: "file:///a.md", text: "four" } };
  const link = { type: "resource_link" as const, name: "b", uri: "file:///b.md" };
  await demo.prompt(id, "say: done", image, file, link);
  expect(demo.text()).toBe("image: image/png, 7 bytes\nfile: file:///a.md, 4 characters\nlink: file:///b.md\ndone\n");
});

test("[DEMO-3] a tool really runs, with its output and exit code; one that cannot run fails with a message", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  await demo.prompt(id, "tool: sh -c 'echo out; echo err >&2; pwd; exit 3'\ntool: no-such-program");
  const [, unknown] = demo.of("tool_call");
  const ended = demo.of("tool_call_update").filter(({ status }) => status === "failed");
  expect(ended).toMatchObject([
    { rawOutput: { exitCode: 3 } },
    { toolCallId: unknown!.toolCallId, rawOutput: { exitCode: null } },
  ]);
  for (const line of ["out", "err", cwd]) expect(JSON.stringify(ended[0])).toContain(`${line}\\n`);
  expect(JSON.stringify(ended[1])).toContain("ENOENT");
});

test("[DEMO-3] an edit writes the file and shows the diff, and writes nothing outside of the working directory", async () => {
  symlinkSync(directory, join(cwd, "out"));
  const demo = share();
  const id = await demo.open(cwd);
  const bad = ["../a", "out/a", "out/new/a", "/tmp/a-demo", ".git/hooks/a", "out"];
  await demo.prompt(
    id,
    ["edit: sub/a.txt one", "edit: sub/a.txt two words", ...bad.map((path) => `edit: ${path} x`)].join("\n"),
  );
  const path = join(cwd, "sub/a.txt");
  const [first, second, ...refused] = demo.of("tool_call_update");
  expect(first).toMatchObject({
    status: "completed",
    content: [{ type: "diff", path, oldText: null, newText: "one\n" }],
  });
  expect(second).toMatchObject({
    status: "completed",
    content: [{ type: "diff", path, oldText: "one\n", newText: "two words\n" }],
  });
  expect(refused.map(({ status }) => status)).toEqual(bad.map(() => "failed"));
  expect(readFileSync(path, "utf8")).toBe("two words\n");
  expect(readdirSync(cwd).sort()).toEqual(["out", "sub"]);
  expect(readdirSync(directory).filter((name) => !/^(work-\d+|gates|conversations)$/.test(name))).toEqual([]);
});

test("[DEMO-4] a permission request waits for any answer, then the turn continues; a permanent approval is not requested again", async () => {
  const asked: RequestPermissionRequest[] = [];
  const kinds = ["allow_once", "reject_once", "none", "allow_always"];
  const demo = share(async (request) => pick(request, kinds[asked.push(request) - 1]!));
  const id = await demo.open(cwd);
  const lines = ["ask: may I?", "ask: may I?", "ask: may I?", "ask: may I?", "ask: may I?", "say: end"];
  expect(await demo.prompt(id, lines.join("\n"))).toEqual({ stopReason: "end_turn" });
  expect(demo.text()).toBe("allowed\ndenied\ndenied\nallowed\nallowed\nend\n");
  expect(asked).toHaveLength(4);
  expect(asked[0]).toMatchObject({
    sessionId: id,
    toolCall: { title: "may I?", toolCallId: demo.of("tool_call")[0]!.toolCallId },
  });
  expect(asked[0]!.options.map(({ kind }) => kind)).toEqual(["allow_once", "allow_always", "reject_once"]);
});

test.each([
  ["a slow turn", "say: begun\nslow: 1000 x 100ms"],
  ["a gate", "say: begun\ngate: never"],
  ["an open question", "say: begun\nask: may I?"],
  ["a tool and its child", "say: begun\ntool: sh -c 'echo pid $$; sleep 600 & wait'"],
  ["a flood", "say: begun\nflood: 2000000000"],
])("[DEMO-5] a cancel ends %s as cancelled, its tools too, and the next turn works", async (_, prompt) => {
  const demo = share(() => new Promise(() => {}));
  const id = await demo.open(cwd);
  const [turn, waiting] = [demo.prompt(id, prompt), demo.prompt(id, "say: never")];
  await until("the turn", () => (prompt.includes("tool:") ? toolPid(demo) : demo.text().includes("begun")));
  await demo.agent.notify("session/cancel", { sessionId: id });
  expect([await turn, await waiting]).toEqual([{ stopReason: "cancelled" }, { stopReason: "cancelled" }]);
  expect(await demo.prompt(id, "history?")).toEqual({ stopReason: "end_turn" });
  expect(demo.text()).toMatch(/history: turns=1 digest=[0-9a-f]{8} replies=1\n$/);
  if (prompt.includes("tool:")) await until("the tool's end", () => !isRunning(toolPid(demo)!));
});

const toolPid = (demo: ConnectedAgent): number | null => {
  const output = /pid (\d+)/.exec(JSON.stringify(demo.of("tool_call_update")));
  return output === null ? null : Number(output[1]);
};

test("[DEMO-6] a failed turn is an error with its message, and the session stays usable", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  await expect(demo.prompt(id, "say: x\nfail: out of luck")).rejects.toMatchObject({
    code: -32603,
    message: "out of luck",
  });
  expect(await demo.prompt(id, "say: y")).toEqual({ stopReason: "end_turn" });
  await expect(demo.prompt("no-such-session", "say: z")).rejects.toMatchObject({ code: -32002 });
});

test.each([
  ["exit: 3", { code: 3, signal: null }],
  ["exit: 0", { code: 0, signal: null }],
  ["crash", { code: null, signal: "SIGKILL" }],
])("[DEMO-6] `%s` ends the process in mid-turn", async (step, exit) => {
  await using demo = start();
  const id = await demo.open(cwd);
  demo.prompt(id, `say: last\n${step}`).catch(() => {});
  expect(await demo.exit()).toEqual(exit);
  expect(demo.text()).toBe("last\n");
});

test("[DEMO-7] killed in mid-turn, it has the prompt and every word that was shown after a load, which replays it all", async () => {
  await using first = start();
  const id = await first.open(cwd);
  await first.prompt(id, "think: so\nsay: one\nedit: a.txt x");
  first.prompt(id, "say: two\nsay: three\ngate: never").catch(() => {});
  await until("the second turn", () => first.text().includes("three"));
  first.process.kill("SIGKILL");
  await first.exit();
  const told = first.updates.map(({ update }) => update).filter(isShown);

  await using second = start();
  await second.initialize();
  await second.agent.request("session/load", { sessionId: id, cwd, ...load });
  const replayed = second.updates.map(({ update }) => update);
  expect(second.text("user_message_chunk")).toBe("think: so\nsay: one\nedit: a.txt xsay: two\nsay: three\ngate: never");
  expect(second.text()).toBe("one\ntwo\nthree\n");
  expect(replayed.filter(isShown)).toEqual(told);
  await second.prompt(id, "history?");
  const reference = DemoConversation.create(directory, "reference")!;
  reference.add({ prompt: "think: so\nsay: one\nedit: a.txt x", reply: "-" });
  reference.add({ prompt: "say: two\nsay: three\ngate: never", reply: "-" });
  expect(second.text()).toBe(`one\ntwo\nthree\n${reference.describe()}\n`);
});

const isShown = ({ sessionUpdate }: SessionUpdate): boolean => /^(tool_call|plan$|agent_thought)/.test(sessionUpdate);

test("[DEMO-7] a resume has the context and replays nothing; mode and model are forgotten with the process", async () => {
  await using first = start();
  const id = await first.open(cwd);
  await first.agent.request("session/set_mode", { sessionId: id, modeId: "plan" });
  await first.agent.request("session/set_config_option", { sessionId: id, configId: "model", value: "demo-large" });
  await first.prompt(id, "mode?\nmodel?\nedit: a x");
  expect(first.text()).toBe("mode: plan\nmodel: demo-large\n");
  expect(first.of("tool_call_update")).toMatchObject([{ status: "failed" }]);
  first.process.kill("SIGKILL");

  await using second = start();
  await second.initialize();
  const { modes } = await second.agent.request("session/resume", { sessionId: id, cwd });
  await second.prompt(id, "history?\nmode?\nmodel?\nmode: auto\nask: x\nmode?");
  expect(modes?.currentModeId).toBe("default");
  expect(second.text()).toMatch(
    /^history: turns=1 \S+ replies=1\nmode: default\nmodel: demo-small\nallowed\nmode: auto\n$/,
  );
  expect(second.of("current_mode_update")).toMatchObject([{ currentModeId: "auto" }]);
});

test("[DEMO-7] a conversation goes over to the terminal's demo agent, and back", async () => {
  await using demo = start();
  const id = await demo.open(cwd);
  await demo.prompt(id, "say: in the chat");
  const terminal = DemoConversation.resume(conversations, id)!;
  expect(terminal.turns).toMatchObject([{ prompt: "say: in the chat", reply: "in the chat\n" }]);
  terminal.add({ prompt: "say: in the terminal", reply: "in the terminal" });
  await using later = start();
  await later.initialize();
  await later.agent.request("session/load", { sessionId: id, cwd, ...load });
  expect(later.text()).toBe("in the chat\nin the terminal");
});

test("[DEMO-8] an unknown, a deleted and another directory's session are not found; a closed one can be loaded again", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  const loadIt = (sessionId: string, from = cwd) =>
    demo.agent.request("session/load", { sessionId, cwd: from, ...load });
  const turn = demo.prompt(id, "say: begun\ngate: never");
  await until("the turn", () => demo.text() !== "");
  await demo.agent.request("session/close", { sessionId: id });
  expect(await turn).toEqual({ stopReason: "cancelled" });
  await expect(demo.prompt(id, "say: x")).rejects.toMatchObject({ code: -32002 });
  await expect(loadIt("no-such-session")).rejects.toMatchObject({ code: -32002 });
  await expect(loadIt("../../escape")).rejects.toMatchObject({ code: -32002 });
  await expect(loadIt(id, directory)).rejects.toMatchObject({ code: -32002 });
  await loadIt(id);
  const { sessions } = await demo.agent.request("session/list", { cwd });
  expect(sessions).toMatchObject([{ sessionId: id, cwd, title: "say: begun" }]);
  expect((await demo.agent.request("session/list", { cwd: directory })).sessions).toEqual([]);

  const again = demo.prompt(id, "say: more\ngate: never");
  await until("the turn", () => demo.text().includes("more"));
  await demo.agent.request("session/delete", { sessionId: id });
  expect(await again).toEqual({ stopReason: "cancelled" });
  await expect(loadIt(id)).rejects.toMatchObject({ code: -32002 });
  expect(readdirSync(conversations)).not.toContain(`${id}.jsonl`);
  await demo.agent.request("session/delete", { sessionId: id });
});

test("[DEMO-8] a gate lets the turn on when its file is there", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  const turn = demo.prompt(id, "say: before\ngate: g-1\nsay: behind");
  await until("the turn", () => demo.text() === "before\n");
  openGate("g-1");
  expect(await turn).toEqual({ stopReason: "end_turn" });
  expect(demo.text()).toBe("before\nbehind\n");
});

test("[DEMO-9] /clear continues without context under a new id, which the next update has; the old conversation keeps its own", async () => {
  const demo = share();
  const id = await demo.open(cwd);
  await demo.prompt(id, "say: one");
  await demo.prompt(id, "/clear");
  const fresh = await until("the new id", () => demo.updates.find(({ sessionId }) => sessionId !== id)?.sessionId);
  await demo.prompt(fresh, "history?");
  await demo.prompt(id, "history?");
  expect(demo.text()).toMatch(/^one\nhistory: turns=0 \S+ replies=0\nhistory: turns=2 \S+ replies=1\n$/);
});

test("[DEMO-10] if it requires a sign-in, no session opens before one", async () => {
  await using demo = start({ env: { HOLDFAST_DEMO_AUTH: join(directory, "signed-in") } });
  const { authMethods } = await demo.initialize();
  await expect(demo.agent.request("session/new", { cwd, mcpServers: [] })).rejects.toMatchObject({ code: -32000 });
  await demo.agent.request("authenticate", { methodId: authMethods![0]!.id });
  await demo.agent.request("session/new", { cwd, mcpServers: [] });
});
