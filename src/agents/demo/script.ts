/** What a prompt asks of the demo agent: each line that is a step is carried out in turn. */
export type DemoStep =
  | { step: "say"; text: string }
  /** Asks for permission, then says which answer came. */
  | { step: "ask"; text: string }
  | { step: "slow"; seconds: number }
  | { step: "exit"; code: number }
  | { step: "history" }
  /** Like `say`, word by word at a pace that can be watched. */
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
  | { step: "report"; what: "mode" | "model" }
  | { step: "later"; text: string }
  | { step: "crash" }
  | { step: "clear" };

type Pattern = readonly [RegExp, (first: string, second: string) => DemoStep];

const steps: readonly Pattern[] = [
  [/^say: ?(.*)$/, (text) => ({ step: "say", text })],
  [/^ask: ?(.*)$/, (text) => ({ step: "ask", text })],
  [/^slow: (\d+(?:\.\d+)?)$/, (text) => ({ step: "slow", seconds: Number(text) })],
  [/^exit: (\d{1,3})$/, (text) => ({ step: "exit", code: Number(text) })],
  [/^history\?$/, () => ({ step: "history" })],
];

/** Only a chat can show these. */
const chatSteps: readonly Pattern[] = [
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
  [/^(mode|model)\?$/, (what) => ({ step: "report", what: what === "mode" ? "mode" : "model" })],
  [/^later: ?(.*)$/, (text) => ({ step: "later", text })],
  [/^crash$/, () => ({ step: "crash" })],
  [/^\/clear$/, () => ({ step: "clear" })],
  [/^\/history$/, () => ({ step: "history" })],
  [/^\/help$/, () => ({ step: "say", text: help })],
];

/** In a terminal. A prompt without steps is echoed. */
export function parseTerminalPrompt(prompt: string): DemoStep[] {
  const found = prompt.split("\n").flatMap((line) => parseStep(line.trim(), steps));
  return found.length > 0 ? found : [{ step: "say", text: `You said: ${prompt.trim()}` }];
}

/** A prompt without steps gets a turn that shows what a chat with an agent looks like. */
export function parseChatPrompt(prompt: string): DemoStep[] {
  const lines = prompt.split("\n");
  const quoted = quotedLines(lines);
  const found = lines.flatMap((line, index) =>
    parseStep(line.trim(), [...chatSteps, ...steps]).filter((step) => !quoted[index] || isHarmless(step)),
  );
  return found.length > 0 ? found : friendlyTurn(prompt.trim());
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
function isHarmless({ step }: DemoStep): boolean {
  return step !== "tool" && step !== "edit";
}

/** Empty if the line is not a step. */
function parseStep(line: string, known: readonly Pattern[]): DemoStep[] {
  for (const [pattern, build] of known) {
    const match = pattern.exec(line);
    if (match) return [build(match[1] ?? "", match[2] ?? "")];
  }
  return [];
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

function friendlyTurn(prompt: string): DemoStep[] {
  const entries = ["Read what you wrote", "Look around", "Answer"];
  const quoted = prompt.length > quotedCharacters ? `${prompt.slice(0, quotedCharacters)}…` : prompt;
  const answer = `**You said:** ${quoted.replaceAll("\n", " ")}

I am the demo agent: no account, no network, no model. I can still show what a chat looks like:

1. what an agent *thinks*, its plan and its tool calls are above,
2. \`edit: notes.md hello\` shows a diff, \`ask: may I?\` a permission request,
3. \`/help\` lists the rest.

\`\`\`sh
holdfast send <session> "slow: 20 x 500ms"   # then stop the daemon: the turn continues
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
