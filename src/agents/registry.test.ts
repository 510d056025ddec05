import { describe, expect, test } from "vitest";
import type { AgentDefinition } from "../ports/agents.ts";
import { openAgents, readAgentFacts } from "./registry.ts";
import type { AgentFacts } from "./registry.ts";

const facts: AgentFacts = {
  demo: ["/node", "/demo.cjs"],
  demoChat: ["/node", "/chat.cjs"],
  shell: "/bin/zsh",
  geminiTrustsOurSettings: true,
};
const agents = openAgents([], facts).list();
const terminals = agents.flatMap(({ id, terminal }) => (terminal === null ? [] : [{ id, terminal }]));

test("the built-in agents are there", () => {
  expect(agents.map(({ id }) => id)).toEqual(["claude", "codex", "gemini", "opencode", "demo", "shell"]);
  expect(openAgents([], facts).get("nobody")).toBeNull();
});

test("[AGENT-1] an agent of the person's own wins over a built-in one of that name", () => {
  const own: AgentDefinition = { ...agents[0]!, label: "mine", install: "x" };
  const opened = openAgents([own], facts);
  expect(opened.get("claude")?.label).toBe("mine");
  expect(opened.list()).toHaveLength(agents.length);
});

describe.each(agents)("$id", (agent) => {
  test("[AGENT-2] says how to get it", () => {
    for (const install of [agent.install, agent.chat?.install ?? agent.install]) expect(install).toMatch(/^[A-Z].*\.$/);
  });

  test("[AGENT-3] uses known placeholders only, and its conversation id where it has one", () => {
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
    expect(terminal?.pin === "chosen").toBe(terminal?.start.includes("{id}"));
    expect(terminal?.resume ?? ["{id}"]).toContain("{id}");
  });

  test("[AGENT-3] hook files hold no placeholder, so that they are the same in every launch", () => {
    const files = agent.terminal?.files ?? [];
    expect(files.filter(({ text }) => /\{(id|prompt|hooks)\}/.test(text))).toEqual([]);
  });
});

describe.each(terminals)("$id in a terminal", ({ terminal }) => {
  test("[AGENT-4] writes its files into the launch's own directory", () => {
    expect(terminal.files.filter(({ name }) => !/^[\w-][\w.-]*$/.test(name))).toEqual([]);
  });

  test("[AGENT-5] a question says what the person is asked", () => {
    const asked = [...terminal.hookRules, ...terminal.screenRules].filter((rule) => rule.activity === "needs_input");
    expect(asked.filter(({ reason }) => !/^\w.*[^.]$/.test(reason ?? ""))).toEqual([]);
  });

  test("screen rules keep no state between two looks", () => {
    const patterns = [...terminal.screenRules.map(({ pattern }) => pattern), ...terminal.conversationGone];
    expect(patterns.filter((pattern) => pattern.global || pattern.sticky)).toEqual([]);
  });
});

test("[AGENT-6] `{demo}` becomes the command of the bundled agent", () => {
  const { terminal, version } = openAgents([], facts).get("demo")!;
  expect(terminal?.start).toEqual(["/node", "/demo.cjs", "--session-id", "{id}"]);
  expect(terminal?.resume).toEqual(["/node", "/demo.cjs", "--resume", "{id}"]);
  expect(version).toEqual(["/node", "/demo.cjs", "--version"]);
});

test("the shell is the person's own, or the one that every system has", () => {
  expect(openAgents([], facts).get("shell")?.terminal?.start).toEqual(["/bin/zsh"]);
  expect(openAgents([], { ...facts, shell: undefined }).get("shell")?.terminal?.start).toEqual(["/bin/sh"]);
});

test("[AGENT-7] gemini gets a settings file only where it would read it, and says what else to do", () => {
  const without = openAgents([], { ...facts, geminiTrustsOurSettings: false }).get("gemini")!;
  expect(without.terminal?.files).toEqual([]);
  expect(without.terminal?.env).toEqual({});
  expect(without.notes?.join()).toContain("sessionRetention");
  const file = openAgents([], facts)
    .get("gemini")!
    .terminal!.files.find(({ name }) => name.endsWith(".json"));
  expect(JSON.parse(file!.text)).toMatchObject({ general: { sessionRetention: { enabled: false } } });
});

test("[AGENT-7] an administrator's defaults for gemini are never hidden by ours", () => {
  const env = { SHELL: "/bin/sh", GEMINI_CLI_SYSTEM_DEFAULTS_PATH: import.meta.filename };
  expect(readAgentFacts(["demo"], [], env).geminiTrustsOurSettings).toBe(false);
});
