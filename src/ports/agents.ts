/**
 * Agents are data. Placeholders in argv, env values and file texts: `{id}` conversation id, `{prompt}` first prompt,
 * `{hooks}` the launch's own hook directory. The registry replaces `{demo}` in argv when it is opened.
 */
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
  /**
   * What the screen shows once the agent has begun its first prompt or taken up a conversation. For agents that look ready
   * before that and then draw themselves anew: what is typed in between is lost.
   */
  begun?: RegExp;
  /** How long after a paste an Enter is taken for part of it by this agent, with room for a busy machine. */
  pasteGuardMs?: number;
  /** tmux key names that interrupt a turn. */
  interrupt: string[];
  /**
   * What the agent's own status file says of this process, where it keeps one. Believed before hooks and screen: it is
   * right after an interrupt too, for which agents have no hook.
   */
  readStatus?: (process: { pid: number; startTime: string }) => AgentStatus | null;
}

export interface AgentStatus {
  activity: Activity;
  since: number;
  reason: string | null;
  agentSessionId: string | null;
}

export interface HookRule {
  /** Equals the `event` field of the hook's line. */
  event: string;
  activity: Activity | null;
  /** Field of the hook's JSON that holds the conversation id. */
  idField?: string;
  /** Field of the hook's JSON that holds the prompt as the agent got it: proof of delivery. */
  promptField?: string;
  /** Field of the hook's JSON that holds what the agent said last. */
  saidField?: string;
  /** What to tell the person of a `needs_input`. */
  reason?: string;
}

export interface ScreenRule {
  where: "title" | "screen";
  pattern: RegExp;
  activity: Activity;
  /** What to tell the person of a `needs_input`. */
  reason?: string;
}

export interface ChatAgent {
  command: string[];
  env: Record<string, string>;
  /**
   * How `session/load` and `session/resume` say that the conversation does not exist. With `confirm`, the agent says the
   * same of failures that pass: then its list of conversations decides.
   */
  notFound: { code: number; message: RegExp | null; confirm?: "list" }[];
  /** Where the replay after `session/load` ends: with its answer (default), or later with the list of commands. */
  replayEnds?: "answer" | "commands";
  /** The agent destroys a conversation that is loaded in the minute of its birth. */
  noLoadInBirthMinute?: boolean;
  /** argv of its own command that deletes the conversation `{id}`; for agents without `session/delete`. */
  deleteCommand?: string[];
  /** How a person deletes what the agent keeps, where we cannot. */
  deleteHint?: string;
  /** How to get the command, where that is another package than the agent itself. */
  install?: string;
  /** Files written for each launch below `{hooks}`. */
  files?: TerminalAgent["files"];
  /** What the command's script would only start, found by the script's real path, to be run in its place. */
  program?: (script: string) => string | null;
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
  /** Whether one conversation can go on in the other kind: seen to work both ways. */
  handsOver?: boolean;
  /** What the person should know of this agent; `doctor` prints it. */
  notes?: string[];
}

export interface Agents {
  get(id: string): AgentDefinition | null;
  list(): AgentDefinition[];
}
