/** Agents are data. Placeholders in argv and files: `{id}` conversation id, `{prompt}` first prompt, `{hooks}` the launch's own hook directory. */
import type { Activity } from "../protocol/session.ts";

export interface TerminalAgent {
  /** argv of a first start. */
  start: string[];
  /** Appended to `start` when there is a first prompt; null where one cannot be given by argument. */
  startPrompt: string[] | null;
  /** argv that takes the conversation `{id}` up again; null where the agent has none. */
  resume: string[] | null;
  resumePrompt: string[] | null;
  /** `chosen`: we mint the id and pass it; `reported`: a hook names it; `none`: it cannot be known. */
  pin: "chosen" | "reported" | "none";
  /** Files written for each launch below `{hooks}`, outside the worktree. */
  files: { name: string; text: string; executable?: boolean }[];
  env: Record<string, string>;
  /** How a line that a hook wrote becomes activity, first match wins. */
  hookRules: HookRule[];
  /** How the rendered screen or the pane's title shows activity, first match wins. */
  screenRules: ScreenRule[];
  /** Seen on the screen when the agent refuses to resume because the conversation does not exist. */
  conversationGone: RegExp[];
  /** Paths below the worktree that the agent itself writes and that must not show as changes. */
  exclude: string[];
  /** Whether `tmux kill-session` alone is known to leave processes behind; told in `doctor`, the tree is ended anyway. */
  interrupt: string[];
}

export interface HookRule {
  /** Equals the `event` field of the hook's line. */
  event: string;
  activity: Activity | null;
  /** Field of the hook's JSON that holds the conversation id. */
  idField?: string;
  /** Field of the hook's JSON that holds the prompt as the agent got it: proof of delivery. */
  promptField?: string;
}

export interface ScreenRule {
  where: "title" | "screen";
  pattern: RegExp;
  activity: Activity;
}

export interface ChatAgent {
  command: string[];
  env: Record<string, string>;
  /** How `session/load` says that the conversation does not exist. */
  notFound: { code: number; message: RegExp | null }[];
}

export interface AgentDefinition {
  id: string;
  label: string;
  /** How to get it, for the error that says it is missing. */
  install: string;
  /** argv that prints a version, where there is one. */
  version: string[] | null;
  terminal: TerminalAgent | null;
  chat: ChatAgent | null;
  env: Record<string, string>;
}

export interface Agents {
  get(id: string): AgentDefinition | null;
  list(): AgentDefinition[];
}
