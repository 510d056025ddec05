import { expect, test } from "vitest";
import { openAgents } from "../agents/project-agents.ts";
import { thisMachine } from "../agents/registry.ts";
import { asLaunchId, asProjectId, asPromptId, asSessionId } from "../contract/ids.ts";
import { requestFor, sampleSession } from "../ports/runtime-contract.fixture.ts";
import { agentCommand, agentEnvironment, fill, fitsArgument } from "./launch.ts";
import { typeable } from "./screen.ts";

const agents = openAgents([], thisMachine(["demo"]));
const session = sampleSession({ id: asSessionId("t-1"), project: asProjectId("p"), agent: "x" });
const agent = {
  start: ["agent", "--id", "{id}", "--settings", "{hooks}/settings.json"],
  startPrompt: ["{prompt}"],
  resume: ["agent", "--resume", "{id}"],
  resumePrompt: null,
  conversationId: "chosen" as const,
  files: [],
  env: { SETTINGS: "{hooks}" },
  hookRules: [],
  screenRules: [],
  conversationGone: [],
  exclude: [],
  interrupt: [],
};
const request = requestFor(session, {
  launch: asLaunchId("l-1"),
  prompt: { promptId: asPromptId("p-1"), text: "say {id}\n'quoted'" },
});
const values = { id: "ID", prompt: request.prompt!.text, hooks: "/h" };

test("[TERMINAL-21] placeholders are filled once: a prompt that holds one stays as it is", () => {
  expect(agentCommand(agent, request, values)).toEqual({
    argv: ["agent", "--id", "ID", "--settings", "/h/settings.json", "say {id}\n'quoted'"],
    promptTaken: true,
  });
  expect(fill("{hooks}{other}", values)).toBe("/h{other}");
});

test("[TERMINAL-21] a resume uses the resume command, with a prompt only if the agent accepts one there", () => {
  expect(agentCommand(agent, { ...request, how: "resume" }, values)).toEqual({
    argv: ["agent", "--resume", "ID"],
    promptTaken: false,
  });
});

test("[TERMINAL-21] a prompt that looks like an option or is too long for an argument is typed later", () => {
  expect(fitsArgument("--help me")).toBe(false);
  expect(fitsArgument("")).toBe(false);
  expect(fitsArgument("x".repeat(200_000))).toBe(false);
  expect(fitsArgument("do it")).toBe(true);
});

test("[TEXT-10] [AGENT-18] a built-in agent never gets its first prompt as an argument", () => {
  for (const id of ["claude", "codex", "gemini", "opencode"]) {
    for (const how of ["fresh", "resume"] as const) {
      const { argv, promptTaken } = agentCommand(agents.get(id)!.terminal!, { ...request, how }, values);
      expect(promptTaken).toBe(false);
      expect(argv.join(" ")).not.toContain("quoted");
    }
  }
});

test("[CLI-40] agents do not inherit the daemon's tmux, terminal or identity", () => {
  const base = {
    TMUX: "x",
    TMUX_PANE: "%1",
    TERM: "dumb",
    HOLDFAST_LAUNCH: "old",
    HOLDFAST_PASSPHRASE: "s",
    HOLDFAST_HOME: "/hh",
    PATH: "/bin",
  };
  const definition = { id: "x", label: "", install: "", version: null, chat: null, terminal: agent, env: { A: "1" } };
  expect(agentEnvironment(base, definition, { ...request, env: { B: "2" } }, values)).toEqual({
    COLORTERM: "truecolor",
    HOLDFAST_HOME: "/hh",
    PATH: "/bin",
    A: "1",
    B: "2",
    SETTINGS: "/h",
    HOLDFAST_SESSION: "t-1",
    HOLDFAST_LAUNCH: "l-1",
  });
});

test("[TERMINAL-13] a prompt cannot press keys: control characters other than line break and tab are left out", () => {
  expect(typeable("a\u001b[201~b\u0003\tc\r\nd\re\u009bf\u007f")).toBe("a[201~b\tc\nd\nef");
});
