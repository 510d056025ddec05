/** What a prompt asks of the demo agent in a chat: the terminal's steps, and what only a chat can show. */
import { parseDemoStep } from "../script.ts";
import type { DemoStep } from "../script.ts";

export type ChatStep =
  | DemoStep
  /** As `say`, word by word at a pace that can be watched. */
  | { step: "type"; text: string; paceMs: number }
  | { step: "think"; text: string }
  | { step: "plan"; entries: string[]; done: number }
  | { step: "tool"; command: string }
  | { step: "edit"; path: string; text: string }
  | { step: "ticks"; count: number; pauseMs: number }
  | { step: "flood"; bytes: number }
  | { step: "wait"; ms: number }
  | { step: "gate"; name: string }
  | { step: "fail"; message: string }
  | { step: "mode"; mode: string }
  | { step: "tell"; what: "mode" | "model" }
  | { step: "later"; text: string }
  | { step: "crash" }
  | { step: "clear" };

const patterns: [RegExp, (first: string, second: string) => ChatStep][] = [
  [/^think: ?(.*)$/, (text) => ({ step: "think", text })],
  [/^plan: ?(.*)$/, (text) => ({ step: "plan", entries: listOf(text), done: 0 })],
  [/^tool: (.+)$/, (command) => ({ step: "tool", command })],
  [/^edit: (\S+) ?(.*)$/, (path, text) => ({ step: "edit", path, text })],
  [/^slow: (\d+) x (\d+) ?ms$/, (count, ms) => ({ step: "ticks", count: Number(count), pauseMs: Number(ms) })],
  [/^flood: (\d+)$/, (bytes) => ({ step: "flood", bytes: Number(bytes) })],
  [/^wait: (\d+) ?ms$/, (ms) => ({ step: "wait", ms: Number(ms) })],
  [/^gate: ([\w-]+)$/, (name) => ({ step: "gate", name })],
  [/^fail: ?(.*)$/, (message) => ({ step: "fail", message })],
  [/^mode: (\S+)$/, (mode) => ({ step: "mode", mode })],
  [/^(mode|model)\?$/, (what) => ({ step: "tell", what: what === "mode" ? "mode" : "model" })],
  [/^later: ?(.*)$/, (text) => ({ step: "later", text })],
  [/^crash$/, () => ({ step: "crash" })],
  [/^\/clear$/, () => ({ step: "clear" })],
  [/^\/history$/, () => ({ step: "history" })],
  [/^\/help$/, () => ({ step: "say", text: help })],
];

/** A prompt without steps gets a turn that shows what a chat with an agent looks like. */
export function parseChatPrompt(prompt: string): ChatStep[] {
  const lines = prompt.split("\n");
  const quoted = quotedLines(lines);
  const steps = lines.flatMap((line, index) =>
    parseChatStep(line.trim()).filter((step) => !quoted[index] || isHarmless(step)),
  );
  return steps.length > 0 ? steps : friendlyTurn(prompt.trim());
}

/** Which lines stand between fences: there Holdfast quotes issues and other agents. */
function quotedLines(lines: string[]): boolean[] {
  let fence: string | null = null;
  return lines.map((line) => {
    const found = /^\s*(`{3,})/.exec(line)?.[1];
    if (fence === null && found !== undefined) fence = found;
    else if (fence !== null && line.trim() === fence) fence = null;
    return fence !== null;
  });
}

/** A stranger's words run no command and write no file. */
function isHarmless({ step }: ChatStep): boolean {
  return step !== "tool" && step !== "edit";
}

function parseChatStep(line: string): ChatStep[] {
  for (const [pattern, build] of patterns) {
    const match = pattern.exec(line);
    if (match) return [build(match[1] ?? "", match[2] ?? "")];
  }
  return parseDemoStep(line);
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

const help = `Each line of a prompt is a step:

- \`say: text\`, \`think: text\`, \`plan: one, two, three\`
- \`tool: ls -l\` runs a command, \`edit: notes.md some text\` writes a file
- \`ask: may I?\` asks for permission
- \`slow: 20 x 500ms\`, \`wait: 500ms\`, \`flood: 100000\`
- \`mode: plan\`, \`mode?\`, \`model?\`, \`history?\`, \`/clear\`
- \`later: text\` comes after the turn has ended
- \`fail: text\`, \`exit: 3\` and \`crash\` go wrong on purpose`;

/** Slow enough to see it stream, quick enough not to wait for. */
const friendlyPaceMs = 6;
/** A long prompt is not said back in full. */
const quotedCharacters = 120;

function friendlyTurn(prompt: string): ChatStep[] {
  const entries = ["Read what you wrote", "Look around", "Answer"];
  const quoted = prompt.length > quotedCharacters ? `${prompt.slice(0, quotedCharacters)}…` : prompt;
  const answer = `**You said:** ${quoted.replaceAll("\n", " ")}

I am the demo agent: no account, no network, no model. I can still show what a chat looks like:

1. what an agent *thinks*, its plan and its tool calls stand above,
2. \`edit: notes.md hello\` shows a diff, \`ask: may I?\` a question,
3. \`/help\` lists the rest.

\`\`\`sh
holdfast send <session> "slow: 20 x 500ms"   # then stop the daemon: the turn goes on
\`\`\`
`;
  return [
    { step: "plan", entries, done: 0 },
    { step: "think", text: `The prompt has ${prompt.length} characters and none of my steps. A tour it is.` },
    { step: "plan", entries, done: 1 },
    { step: "tool", command: "ls" },
    { step: "plan", entries, done: 2 },
    { step: "type", text: answer, paceMs: friendlyPaceMs },
  ];
}
