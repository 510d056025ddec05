/** What a prompt asks of the demo agent: each line that is a step is carried out in turn. */
export type DemoStep =
  | { step: "say"; text: string }
  /** Asks for permission, then says which answer came. */
  | { step: "ask"; text: string }
  | { step: "slow"; seconds: number }
  | { step: "exit"; code: number }
  | { step: "history" };

const patterns: [RegExp, (text: string) => DemoStep][] = [
  [/^say: ?(.*)$/, (text) => ({ step: "say", text })],
  [/^ask: ?(.*)$/, (text) => ({ step: "ask", text })],
  [/^slow: (\d+(?:\.\d+)?)$/, (text) => ({ step: "slow", seconds: Number(text) })],
  [/^exit: (\d{1,3})$/, (text) => ({ step: "exit", code: Number(text) })],
  [/^history\?$/, () => ({ step: "history" })],
];

/** A prompt without steps is echoed. */
export function parseDemoPrompt(prompt: string): DemoStep[] {
  const steps = prompt.split("\n").flatMap((line) => parseDemoStep(line.trim()));
  return steps.length > 0 ? steps : [{ step: "say", text: `You said: ${prompt.trim()}` }];
}

/** None, where the line is no step. */
export function parseDemoStep(line: string): DemoStep[] {
  for (const [pattern, build] of patterns) {
    const match = pattern.exec(line);
    if (match) return [build(match[1] ?? "")];
  }
  return [];
}
