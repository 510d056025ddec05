import { describe, expect, test } from "vitest";
import type { AgentConfiguration, Machine } from "../ports/agents.ts";
import { gemini } from "./gemini.ts";
import { openAgents, openProjectAgents } from "./project-agents.ts";
import { builtInIds, idsWithModel } from "./registry.ts";

const machine: Machine = {
  env: { SHELL: "/bin/zsh", GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "/missing" },
  platform: "linux",
  isRoot: true,
  demo: ["/node", "/demo.cjs"],
  demoChat: ["/node", "/chat.cjs"],
};
const agents = openAgents([], machine).list();
const terminals = agents.flatMap(({ id, terminal }) => (terminal === null ? [] : [{ id, terminal }]));

test("the built-in agents are there", () => {
  expect(agents.map(({ id }) => id)).toEqual(builtInIds);
  expect(agents.filter(({ model }) => model !== undefined).map(({ id }) => id)).toEqual(idsWithModel);
  expect(openAgents([], machine).get("nobody")).toBeNull();
});

const said = (id: string, more: Partial<AgentConfiguration>): AgentConfiguration => ({
  id,
  from: "project",
  terminal: null,
  chat: null,
  args: [],
  env: {},
  model: null,
  ...more,
});
const command = (...words: string[]) => ({ command: words, resume: null, args: [] });

test("[AGENT-1, TRUST-6] an agent of the user's own replaces a built-in one of that name", () => {
  const mine = { terminal: command("mine", "--id", "{id}") };
  const opened = openAgents([said("claude", { from: "user", ...mine })], machine);
  // A repository's file may not.
  const [builtIn, same] = [openAgents([], machine), openAgents([said("claude", mine), said("shell", mine)], machine)];
  expect(["claude", "shell"].map((id) => same.get(id))).toEqual(["claude", "shell"].map((id) => builtIn.get(id)));
  expect(opened.get("claude")).toMatchObject({
    label: "claude",
    chat: null,
    terminal: { conversationId: "chosen", hookRules: [] },
  });
  expect(opened.list()).toHaveLength(agents.length);
});

test.each([
  [["mine"], ["mine"], null],
  [["mine", "{prompt}"], ["mine"], ["{prompt}"]],
  [
    ["mine", "--ask", "{prompt}", "-v"],
    ["mine", "-v"],
    ["--ask", "{prompt}"],
  ],
  [["mine", "--ask={prompt}"], ["mine"], ["--ask={prompt}"]],
])("[AGENT-2] the command %j starts as %j, with a prompt also %j", (words, start, startPrompt) => {
  const { terminal } = openAgents([said("mine", { terminal: command(...words) })], machine).get("mine")!;
  expect(terminal).toMatchObject({ start, startPrompt, conversationId: "none", resume: null });
});

test("[AGENT-2] an agent of a project's file belongs to that project alone; the user's belong to all", () => {
  const scoped = openProjectAgents(machine);
  const user = said("theirs", { from: "user", terminal: command("user") });
  const mine = (word: string) => said("mine", { terminal: command(word) });
  // The user's own is never replaced.
  const stolen = said("theirs", { terminal: command("stolen") });
  scoped.define("one", [user, mine("one"), stolen]);
  scoped.define("two", [user, mine("two")]);
  scoped.define("three", [user]);
  const start = (project: string) => scoped.of({ project, agent: "mine" })?.terminal?.start;
  expect(["one", "two", "three", "unheard-of"].map(start)).toEqual([["one"], ["two"], undefined, undefined]);
  const theirs = (project: string) => scoped.of({ project, agent: "theirs" })?.terminal?.start;
  expect(["one", "two", "three", "unheard-of"].map(theirs)).toEqual(Array.from({ length: 4 }, () => ["user"]));
  // An entry that a file no longer has is gone; the other project's stays.
  scoped.define("one", []);
  expect(["one", "two"].map(start)).toEqual([undefined, ["two"]]);
  expect(scoped.list("two").find(({ id }) => id === "mine")?.from).toBe("project");
});

test("[AGENT-3] without a command a built-in agent is extended: environment, arguments and model, in both kinds", () => {
  const claude = openAgents([], machine).get("claude")!;
  const more = said("claude", {
    env: { CLAUDE_CONFIG_DIR: "/c" },
    args: ["--verbose"],
    terminal: { command: null, resume: null, args: ["--permission-mode", "plan"] },
    model: "opus",
  });
  const extended = openAgents([more], machine).get("claude")!;
  const words = ["--model", "opus", "--verbose", "--permission-mode", "plan"];
  expect(extended).toEqual({
    ...claude,
    from: "project",
    env: { CLAUDE_CONFIG_DIR: "/c" },
    terminal: {
      ...claude.terminal,
      start: claude.terminal!.start.toSpliced(1, 0, ...words),
      resume: claude.terminal!.resume!.toSpliced(1, 0, ...words),
    },
    chat: { ...claude.chat, command: ["claude-agent-acp", "--verbose"], options: { model: "opus" } },
  });
});

test.each([
  ["claude", ["--model", "m"], [], { model: "m" }],
  ["codex", ["-m", "m"], [], { model: "m" }],
  ["gemini", ["-m", "m"], ["-m", "m"], {}],
  ["opencode", ["-m", "m"], [], { model: "m" }],
])("[AGENT-3] a model of %s goes to its own option", (id, terminal, chat, options) => {
  const before = openAgents([], machine).get(id)!;
  const after = openAgents([said(id, { model: "m" })], machine).get(id)!;
  expect(after.terminal!.start).toEqual(before.terminal!.start.toSpliced(1, 0, ...terminal));
  expect(after.chat!.command).toEqual([...before.chat!.command, ...chat]);
  expect(after.chat!.options).toEqual(options);
});

/** The program and its subcommand: the words before the first option. */
const programOf = (words: string[]): string[] =>
  words.slice(
    0,
    [...words, "-"].findIndex((word) => word.startsWith("-")),
  );

test.each(
  terminals.flatMap(({ id, terminal: { start, resume } }) =>
    resume === null ? [] : [[id, programOf(start), programOf(resume)] as const],
  ),
)("[AGENT-4] a configured option with several values does not swallow a prompt of %s", (id, start, resume) => {
  const [one, two] = [
    ["--add-dir", "/a", "/b"],
    ["--more", "c"],
  ];
  const before = openAgents([], machine).get(id)!.terminal!;
  const layers = [
    said(id, { from: "user", args: one }),
    said(id, { terminal: { command: null, resume: null, args: two } }),
  ];
  const after = openAgents(layers, machine).get(id)!.terminal!;
  const behind = [...one, ...two];
  expect(after.start).toEqual([...start, ...behind, ...before.start.slice(start.length)]);
  expect(after.resume).toEqual([...resume, ...behind, ...before.resume!.slice(resume.length)]);
  // Nothing but an option of ours may follow the values.
  for (const words of [after.start, after.resume!]) expect(words[words.indexOf("c") + 1] ?? "-").toMatch(/^-/);
});

test("[AGENT-4] arguments that extend a custom command come at its end", () => {
  const layers = [
    said("mine", { from: "user", terminal: command("npx", "-y", "mine", "{prompt}") }),
    said("mine", { args: ["--fast"] }),
  ];
  expect(openAgents(layers, machine).get("mine")!.terminal!.start).toEqual(["npx", "-y", "mine", "--fast"]);
});

test("[AGENT-3] a project's arguments follow the user's; of two models the project's counts", () => {
  const layers = [
    said("gemini", { from: "user", model: "one", args: ["-a"], env: { A: "user", B: "user" } }),
    said("gemini", { model: "two", args: ["-b"], env: { A: "project" } }),
  ];
  const { chat, env } = openAgents(layers, machine).get("gemini")!;
  expect(chat!.command).toEqual(["gemini", "--acp", "-a", "-m", "two", "-b"]);
  expect(env).toEqual({ A: "project", B: "user" });
});

test("[AGENT-19] Claude Code suggests no prompts in its input line", () => {
  const { env } = openAgents([said("claude", { env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "true" } })], machine).get(
    "claude",
  )!.terminal!;
  expect(env).toMatchObject({ CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false" });
});

describe.each(agents)("$id", (agent) => {
  test("[AGENT-5] names how to install it", () => {
    for (const install of [agent.install, agent.chat?.install ?? agent.install]) expect(install).toMatch(/^[A-Z].*\.$/);
  });

  test("[AGENT-6] uses known placeholders only, and its conversation id where it has one", () => {
    const { terminal, chat } = agent;
    const texts = [
      ...(terminal?.start ?? []),
      ...(terminal?.startPrompt ?? []),
      ...(terminal?.resume ?? []),
      ...(terminal?.resumePrompt ?? []),
      ...Object.values(terminal?.env ?? {}),
      ...(chat?.command ?? []),
      ...Object.values(chat?.env ?? {}),
      ...(agent.version ?? []),
    ];
    const used = texts.flatMap((text) => text.match(/\{[a-z]+\}/gi) ?? []);
    expect(used.filter((name) => !["{id}", "{prompt}", "{hooks}"].includes(name))).toEqual([]);
    expect(terminal?.conversationId === "chosen").toBe(terminal?.start.includes("{id}"));
    expect(terminal?.resume ?? ["{id}"]).toContain("{id}");
  });

  test("[AGENT-6] hook files hold no placeholder, so that they are the same in every launch", () => {
    const files = agent.terminal?.files ?? [];
    expect(files.filter(({ text }) => /\{(id|prompt|hooks)\}/.test(text))).toEqual([]);
  });
});

describe.each(terminals)("$id in a terminal", ({ terminal }) => {
  test("[AGENT-7] writes its files into the launch's own directory", () => {
    expect(terminal.files.filter(({ name }) => !/^[\w-][\w.-]*$/.test(name))).toEqual([]);
  });

  test("[AGENT-8] a dialog has a reason that names the question", () => {
    const asked = [...terminal.hookRules, ...terminal.screenRules].filter((rule) => rule.activity === "needs_input");
    expect(asked.filter(({ reason }) => !/^\w.*[^.]$/.test(reason ?? ""))).toEqual([]);
  });

  test("screen rules keep no state between two looks", () => {
    const patterns = [...terminal.screenRules.map(({ pattern }) => pattern), ...terminal.conversationGone];
    expect(patterns.filter((pattern) => pattern.global || pattern.sticky)).toEqual([]);
  });
});

test("[AGENT-9] `{demo}` becomes the command of the bundled agent", () => {
  const { terminal, version } = openAgents([], machine).get("demo")!;
  expect(terminal?.start).toEqual(["/node", "/demo.cjs", "--session-id", "{id}"]);
  expect(terminal?.resume).toEqual(["/node", "/demo.cjs", "--resume", "{id}"]);
  expect(version).toEqual(["/node", "/demo.cjs", "--version"]);
});

test("the shell is the person's own, or the one that every system has", () => {
  expect(openAgents([], machine).get("shell")?.terminal?.start).toEqual(["/bin/zsh"]);
  expect(openAgents([], { ...machine, env: {} }).get("shell")?.terminal?.start).toEqual(["/bin/sh"]);
});

test("[AGENT-10] gemini gets a settings file only if it would read it, and otherwise a note for the user", () => {
  const without = openAgents([], { ...machine, isRoot: false }).get("gemini")!;
  expect(without.terminal?.files).toEqual([]);
  expect(without.terminal?.env).toEqual({});
  expect(without.notes?.join()).toContain("sessionRetention");
  const file = openAgents([], machine)
    .get("gemini")!
    .terminal!.files.find(({ name }) => name.endsWith(".json"));
  expect(JSON.parse(file!.text)).toMatchObject({ general: { sessionRetention: { enabled: false } } });
});

test("[AGENT-10] an administrator's defaults for gemini are never hidden by ours", () => {
  const env = { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: import.meta.filename };
  expect(gemini({ ...machine, env }).terminal?.files).toEqual([]);
});
