/**
 * Agents are data. Placeholders in argv, env values and file texts: `{id}` conversation id, `{prompt}` first prompt,
 * `{hooks}` the launch's own hook directory.
 */
import type { Activity } from "../contract/ids.ts";

export interface TerminalAgent {
  /** argv of a first start. */
  start: string[];
  /** Appended to `start` with a first prompt; null if the agent does not accept one as an argument. */
  startPrompt: string[] | null;
  /** argv that resumes the conversation `{id}`; null if the agent cannot. */
  resume: string[] | null;
  resumePrompt: string[] | null;
  /**
   * How many words at the end of `start` and `resume` follow the arguments of configuration files. The prompt comes last,
   * so an option with several values must not come right before it.
   */
  ownOptions?: { start: number; resume: number };
  /** Who names the conversation. `chosen`: Holdfast; `reported`: the agent, by a hook; `none`: it has no id. */
  conversationId: "chosen" | "reported" | "none";
  /** Files written for each launch below `{hooks}`, outside the worktree. */
  files: { name: string; text: string; executable?: boolean }[];
  env: Record<string, string>;
  /** Maps hook lines to activity; the first match wins. */
  hookRules: HookRule[];
  /** Maps the rendered screen or the pane's title to activity; the first match wins. */
  screenRules: ScreenRule[];
  /** Text on the screen if the conversation to resume does not exist. */
  conversationGone: RegExp[];
  /** Paths in the worktree that the agent itself writes and that must not show as changes. */
  exclude: string[];
  /**
   * Text on the screen once the agent has started its first prompt or resumed a conversation. For agents that look ready
   * earlier and then redraw: text typed in between is lost.
   */
  begun?: RegExp;
  /** How long after a paste this agent takes an Enter for part of it, with a margin for busy machines. */
  pasteGuardMs?: number;
  /** tmux key names that interrupt a turn. */
  interrupt: string[];
  /** The line that a prompt is typed into. Without it nothing shows when the agent is ready. */
  input?: InputLine;
  /** How long the agent may take to confirm a prompt on a busy machine (default: 20 s). */
  confirmMs?: number;
  /**
   * New prompts in the agent's own transcript of this conversation. For agents whose hooks may be off: Codex runs them
   * only if trusted, Gemini only from settings that it trusts.
   */
  readPrompts?: (of: TranscriptOf) => string[];
  /** The agent's own status file. Takes precedence over hooks and screen: it is also right after an interrupt. */
  readStatus?: (process: { pid: number; startTime: string }, ownHome?: string | null) => AgentStatus | null;
}

export interface InputLine {
  /** Its first group is the line's text; the last match on the screen counts. */
  line: RegExp;
  /** Matches the group while nothing is typed, placeholders included. */
  empty: RegExp;
  /** The frame's lower edge: text to the right of its end is not part of the line. */
  edge?: RegExp;
  /** Text that may be a dialog's list, if the agent draws one like the line. */
  choices?: RegExp;
  /** The tmux key that clears the line, pressed only while it contains text. */
  clear: string;
  /** Shown while the agent itself queues a prompt until its turn is over. */
  keeps?: RegExp;
}

export interface TranscriptOf {
  process: { pid: number; startTime: string };
  workspace: string;
  /** Null if it is not known yet. */
  agentSessionId: string | null;
  since: number;
  /** A contained session's own home, as a path outside. */
  ownHome?: string | null;
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
  /** Field of the hook's JSON with the conversation id. */
  idField?: string;
  /** Field of the hook's JSON with the prompt that the agent received: proof of delivery. */
  promptField?: string;
  /** Field of the hook's JSON with the agent's last message. */
  messageField?: string;
  /** The reason shown to the user for a `needs_input`. */
  reason?: string;
}

export interface ScreenRule {
  where: "title" | "screen";
  pattern: RegExp;
  activity: Activity;
  /** The reason shown to the user for a `needs_input`. */
  reason?: string;
}

export interface ChatAgent {
  command: string[];
  env: Record<string, string>;
  /**
   * How `session/load` and `session/resume` report that the conversation does not exist. With `confirm`, temporary failures
   * look the same: then the agent's list of conversations decides.
   */
  notFound: { code: number; message: RegExp | null; confirm?: "list" }[];
  /** What ends the replay after `session/load`: the response (default), or the later list of commands. */
  replayEnds?: "answer" | "commands";
  /** Loading a conversation that does not exist opens an empty one: the agent's list of conversations decides first. */
  opensUnknown?: boolean;
  /** The agent destroys a conversation that is loaded in the minute of its creation. */
  noLoadInBirthMinute?: boolean;
  /** argv of its own command that deletes the conversation `{id}`; for agents without `session/delete`. */
  deleteCommand?: string[];
  /** How the user deletes the agent's copy, if Holdfast cannot. */
  deleteHint?: string;
  /** How to get the command if it is in another npm package than the agent itself. */
  install?: string;
  npm?: string;
  /** Files written for each launch below `{hooks}`. */
  files?: TerminalAgent["files"];
  /** The program that the command's script would only start, by the script's real path; run instead of it. */
  program?: (script: string) => string | null;
  /** Session options, by id, that are set once a conversation is open, unless the user chose otherwise. */
  options?: Record<string, string>;
}

/** The machine, as far as definitions depend on it. */
export interface Machine {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  isRoot: boolean;
  /** argv of the bundled demo agent: in a terminal, and over ACP. */
  demo: string[];
  demoChat: string[];
}

/** A folder in which an agent keeps state. Credentials are shared as real files: agents renew tokens in them. */
export interface OwnFolder {
  /** Below the home. */
  name: string;
  /** The agent's variable that names it, if it has one. */
  variable?: string;
  /** The variable that names the folder around it, such as XDG_DATA_HOME. */
  around?: string;
  /** Copied at the session's first launch; `~/x` comes from the home, `.` is all of it. */
  copy: readonly string[];
  share: readonly string[];
}

export interface AgentDefinition {
  id: string;
  label: string;
  /** How to install it, for the error if it is missing. */
  install: string;
  /** argv that prints a version; null if there is none. */
  version: string[] | null;
  terminal: TerminalAgent | null;
  chat: ChatAgent | null;
  env: Record<string, string>;
  /** How a configured model is passed: as arguments with `{model}`, or as a session option of that id. */
  model?: { terminal: string[]; chat: { args: string[] } | { option: string } };
  /** Hosts of its models and of its sign-in: a contained session with an allow list reaches them without listing them. */
  hosts?: string[];
  /** The agent's npm package, for `doctor`. */
  npm?: string;
  /** Environment variables: names, and prefixes that end with `*`. Without an entry the daemon drops them. */
  variables?: { reads: readonly string[]; marks?: readonly string[] };
  /** Folders of the home that a contained session has for itself. */
  ownFolders?: readonly OwnFolder[];
  /** Runs its prompts as commands, like a shell: a repository may not choose it without trust. */
  runsPrompts?: boolean;
  /** Whether one conversation can continue in the other kind: seen to work both ways. */
  handsOver?: boolean;
  /** The configuration file that defines or extends it last; left out for a built-in agent. */
  from?: AgentConfiguration["from"];
  /** Notes for the user, printed by `doctor`. */
  notes?: string[];
}

/** One configuration file's entry for an agent. Plain data: it is stored as text. */
export interface AgentConfiguration {
  id: string;
  /** `user`: config.yaml, for all projects. `project`: a holdfast.yaml, for that file's projects alone. */
  from: "user" | "project";
  /** With a command in either kind it is a separate agent; without one it extends the agent of that name. */
  terminal: { command: string[] | null; resume: string[] | null; args: string[] } | null;
  chat: { command: string[] | null; args: string[] } | null;
  args: string[];
  env: Record<string, string>;
  model: string | null;
}

/** Agents by project and name: one name may mean different commands in two projects. */
export interface Agents {
  of(session: { project: string; agent: string }): AgentDefinition | null;
  /** Null: the agents of every project. */
  list(project: string | null): AgentDefinition[];
}
