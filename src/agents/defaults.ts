/** What most agents have in common, so that a data file lists only what is different. */
import type { ScreenRule, TerminalAgent } from "../ports/agents.ts";

/** Prompts are typed once the agent is ready, not passed as arguments: every user of the machine can read those. */
export const terminalDefaults = {
  startPrompt: null,
  resumePrompt: null,
  files: [],
  env: {},
  hookRules: [],
  screenRules: [],
  conversationGone: [],
  exclude: [],
  interrupt: ["Escape"],
} satisfies Partial<TerminalAgent>;

/** The agent shows a dialog that only the user can answer. */
export function dialog(pattern: RegExp, reason: string): ScreenRule {
  return { where: "screen", pattern, activity: "needs_input", reason };
}
