/** Titles and screens as the real agents showed them. */
import { expect, test } from "vitest";
import type { TerminalAgent } from "../ports/agents.ts";
import type { Activity } from "../contract/ids.ts";
import { openAgents } from "./project-agents.ts";
import { thisMachine } from "./registry.ts";

const agents = openAgents([], { ...thisMachine(["demo"]), isRoot: false });

interface Seen {
  agent: string;
  title?: string;
  screen?: string;
  is: Activity | null;
}

const seen: Seen[] = [
  { agent: "claude", title: "✳ scripted", is: "idle" },
  { agent: "claude", title: "⠂ scripted", is: "working" },
  { agent: "claude", title: "⠐ scripted", is: "working" },
  { agent: "claude", title: "vm", is: null },
  { agent: "claude", title: "✳ scripted", screen: " Do you want to proceed?\n ❯ 1. Yes", is: "needs_input" },
  {
    agent: "claude",
    title: "vm",
    screen: " Quick safety check: Is this a project you created or one you trust?",
    is: "needs_input",
  },
  { agent: "claude", screen: " Do you want to use this API key?\n ❯ 2. No (recommended)", is: "needs_input" },
  { agent: "claude", screen: " Choose the text style that looks best with your terminal", is: "needs_input" },
  { agent: "claude", screen: " Select login method:\n ❯ 1. Claude account", is: "needs_input" },
  {
    agent: "claude",
    screen: " ❯ 1. Resume from summary (recommended)\n   2. Resume full session as-is",
    is: "needs_input",
  },
  { agent: "claude", screen: " ❯ 1. Default\n Enter to confirm · Esc to cancel", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "› 1. Try new model\n  2. Use existing model", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "  Approaching rate limits\n› 1. Switch", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "  ✨ Update available! 0.1 -> 0.2\n› 1. Update now", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "  Something new\n› 1. One way\n  2. Another", is: "needs_input" },
  { agent: "codex", title: "⠸ scripted | w-codex", screen: "› 1. first do this", is: "working" },
  { agent: "gemini", title: "◇  Ready (w)", screen: " Waiting for authentication... (Press Esc)", is: "needs_input" },
  { agent: "gemini", title: "◇  Ready (w)", screen: " Enter Gemini API Key", is: "needs_input" },
  { agent: "gemini", title: "◇  Ready (w)", screen: " Usage limit reached for gemini-2.5-pro.", is: "needs_input" },
  { agent: "gemini", title: "◇  Ready (w)", screen: "│ ● 1. Something new │", is: "needs_input" },
  { agent: "opencode", title: "OpenCode", screen: "   Connect a provider    esc", is: "needs_input" },
  {
    agent: "opencode",
    title: "OpenCode",
    screen: " A new release v2 is available. Would you like to update now?",
    is: "needs_input",
  },
  { agent: "codex", title: "scripted | w-codex", is: "idle" },
  { agent: "codex", title: "⠸ scripted | w-codex", is: "working" },
  { agent: "codex", title: "[ ! ] Action Required | scripted | w-codex", is: "needs_input" },
  { agent: "codex", title: "[ . ] Action Required | scripted | w-codex", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "  Hooks need review\n  7 hooks are new or changed.", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "> 1. Sign in with ChatGPT", is: "needs_input" },
  { agent: "codex", title: "vm", screen: "  Trust this folder? Codex can read, edit, and run", is: "needs_input" },
  { agent: "codex", title: "vm", is: null },
  { agent: "gemini", title: "◇  Ready (w-gemini)      ", is: "idle" },
  { agent: "gemini", title: "✦  Working… (w-gemini)   ", is: "working" },
  { agent: "gemini", title: "✋  Action Required (w-gemini)  ", is: "needs_input" },
  { agent: "gemini", title: "◇  Ready (w)", screen: " ⠏ Thinking... (esc to cancel, 0s)", is: "working" },
  { agent: "gemini", title: "◇  Ready (w)", screen: "⠏ Resuming session...\n > hello", is: "working" },
  { agent: "gemini", title: "◇  Ready (w)", screen: "│ Do you trust the files in this folder?  │", is: "needs_input" },
  {
    agent: "opencode",
    title: "OC | scripted",
    screen: "  ┃  △ Permission required\n  ┃ $ touch made",
    is: "needs_input",
  },
  {
    agent: "opencode",
    title: "OC | scripted",
    screen: "   ⬝⬝⬝⬝  esc interrupt     20 (0%)  ctrl+p commands",
    is: "working",
  },
  { agent: "opencode", title: "OC | scripted", screen: "   /tmp/w     20 (0%)  ctrl+p commands", is: "idle" },
  { agent: "demo", title: "demo: asking", is: "needs_input" },
  { agent: "demo", title: "demo: ready", is: "idle" },
  { agent: "shell", title: "vm", screen: "$ ", is: null },
];

test.each(seen)("[AGENT-11] $agent with title '$title' and screen '$screen' is $is", ({ agent, title, screen, is }) => {
  expect(activityOf(agents.get(agent)!.terminal!, title ?? "", screen ?? "")).toBe(is);
});

test("[AGENT-8] every dialog on a screen has a reason that names the question", () => {
  const silent = agents
    .list()
    .flatMap(({ id, terminal }) =>
      (terminal?.screenRules ?? [])
        .filter(({ activity, reason }) => activity === "needs_input" && (reason ?? "") === "")
        .map(({ pattern }) => `${id}: ${pattern}`),
    );
  expect(silent).toEqual([]);
});

test.each([
  ["", false],
  ["4. Be specific for the best results\n >   Type your message or @path/to/file", false],
  ["▄▄▄\n > say: hello\n▀▀▀\n >   Type your message or @path/to/file", true],
  ["✦ before the reboot\n >   Type your message or @path/to/file", true],
])("[AGENT-15] gemini has begun when %j is on its screen: %s", (screen, begun) => {
  expect(agents.get("gemini")!.terminal!.begun!.test(screen)).toBe(begun);
});

test("[AGENT-15] no agent is idle because its start hook fired: it fires before the input line accepts text", () => {
  for (const { id, terminal } of agents.list().filter(({ npm }) => npm !== undefined)) {
    const starts = terminal?.hookRules.filter(({ event }) => /^(SessionStart|session\.created)$/.test(event)) ?? [];
    expect([id, starts.filter(({ activity }) => activity !== null)]).toEqual([id, []]);
  }
});

const gone: [string, string][] = [
  ["claude", "No conversation found with session ID: 11111111-2222-4333-8444-555555555559"],
  ["codex", "ERROR: No saved session found with ID 01a1e104-d677-7062-b4d8-0f8eead90463. Run `codex resume` …"],
  ["gemini", "Error resuming session: No previous sessions found for this project."],
  ["gemini", 'Error resuming session: Invalid session identifier "11111111-2222-4333-8444-555555555559".'],
  ["opencode", "Error: Session not found: ses_doesnotexist"],
  ["demo", "demo: no conversation x"],
];

test.each(gone)("[AGENT-12] %s reports that a conversation is gone: %s", (agent, text) => {
  expect(agents.get(agent)!.terminal!.conversationGone.some((pattern) => pattern.test(text))).toBe(true);
});

function activityOf(terminal: TerminalAgent, title: string, screen: string): Activity | null {
  const rule = terminal.screenRules.find(({ where, pattern }) => pattern.test(where === "title" ? title : screen));
  return rule?.activity ?? null;
}
