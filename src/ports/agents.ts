/**
 * Agents are data. Placeholders in argv, env values and file texts: `{id}` conversation id, `{prompt}` first prompt,
 * `{hooks}` the launch's own hook directory.
 */
import type { Activity } from "../contract/ids.ts";

export interface TerminalAgent {
  /** argv of a first start. */
  start: string[];
  /** Appended to `start` when there is a first prompt; null where one cannot be given by argument. */
  startPrompt: string[] | null;
  /** argv that takes the conversation `{id}` up again; null where the agent has none. */
  resume: string[] | null;
  resumePrompt: string[] | null;
  /**
   * How many words at the end of `start` and `resume` follow the arguments of configuration files. The prompt comes last,
   * so an option that takes several values must not stand right before it.
   */
  ownOptions?: { start: number; resume: number };
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
   * What the screen shows once the agent has begun its first prompt or resumed a conversation. For agents that look ready
   * before that and then draw themselves again: what is typed in between is lost.
   */
  begun?: RegExp;
  /** How long after a paste an Enter is taken for part of it by this agent, with room for a busy machine. */
  pasteGuardMs?: number;
  /** tmux key names that interrupt a turn. */
  interrupt: string[];
  /** How the agent shows the line that a prompt is typed into. Without it nothing shows when the agent is ready. */
  input?: InputLine;
  /** How long after Enter the agent's own confirmation may take on a busy machine; 20 s where it is left out. */
  confirmMs?: number;
  /**
   * The prompts that the agent's own transcript of this conversation has since then. For agents whose hooks may be off:
   * Codex runs them only if trusted, Gemini only from settings that it trusts.
   */
  readPrompts?: (of: TranscriptOf) => string[];
  /**
   * The agent's own status file for this process, if it keeps one. It takes precedence over hooks and screen: it is
   * right after an interrupt too, for which agents have no hook.
   */
  readStatus?: (process: { pid: number; startTime: string }, ownHome?: string | null) => AgentStatus | null;
}

export interface InputLine {
  /** Its first group is what is in the line; of several matches on the screen the last counts. */
  line: RegExp;
  /** What the group matches while nothing is typed, place-holders included. */
  empty: RegExp;
  /** The frame's lower edge: what stands to the right of its end is beside the line and not in it. */
  edge?: RegExp;
  /** Text that may be a dialog's list instead, where one is drawn like the line; without it a line is never a dialog. */
  choices?: RegExp;
  /** The tmux key that takes typed text out again, pressed only while text is seen. */
  clear: string;
  /** Shown while the agent itself keeps a prompt until its turn is over. */
  keeps?: RegExp;
}

export interface TranscriptOf {
  process: { pid: number; startTime: string };
  workspace: string;
  /** Null where it is not known yet. */
  agentSessionId: string | null;
  since: number;
  /** Of a contained session: its agent's home, as it is outside. */
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
  /** Field of the hook's JSON that holds the conversation id. */
  idField?: string;
  /** Field of the hook's JSON that holds the prompt as the agent got it: proof of delivery. */
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
   * How `session/load` and `session/resume` report that the conversation does not exist. With `confirm`, the agent reports the
   * same of failures that pass: then its list of conversations decides.
   */
  notFound: { code: number; message: RegExp | null; confirm?: "list" }[];
  /** Where the replay after `session/load` ends: with its answer (default), or later with the list of commands. */
  replayEnds?: "answer" | "commands";
  /** Loading a conversation that does not exist opens an empty one: the agent's list of conversations decides first. */
  opensUnknown?: boolean;
  /** The agent destroys a conversation that is loaded in the minute of its birth. */
  noLoadInBirthMinute?: boolean;
  /** argv of its own command that deletes the conversation `{id}`; for agents without `session/delete`. */
  deleteCommand?: string[];
  /** How a user deletes what the agent keeps, where we cannot. */
  deleteHint?: string;
  /** How to get the command if it is in another npm package than the agent itself. */
  install?: string;
  npm?: string;
  /** Files written for each launch below `{hooks}`. */
  files?: TerminalAgent["files"];
  /** What the command's script would only start, found by the script's real path, to be run in its place. */
  program?: (script: string) => string | null;
  /** Session options, by id, that are set once a conversation is open, unless the user chose otherwise. */
  options?: Record<string, string>;
}

/** What a definition may depend on. */
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
  /** argv that prints a version, where there is one. */
  version: string[] | null;
  terminal: TerminalAgent | null;
  chat: ChatAgent | null;
  env: Record<string, string>;
  /** How a configured model is given to it: as arguments with `{model}`, or as a session option of that id. */
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
  /** What the user should know of this agent; `doctor` prints it. */
  notes?: string[];
}

/** One configuration file's entry for an agent. Plain data: it is kept as text. */
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

/** Agents by project and name: two projects may mean different commands by one name. */
export interface Agents {
  of(session: { project: string; agent: string }): AgentDefinition | null;
  /** Null: those that every project has. */
  list(project: string | null): AgentDefinition[];
}
