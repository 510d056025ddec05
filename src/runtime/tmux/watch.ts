/** What the daemon remembers of one launch between two looks. Everything in it can be found again by looking. */
import type { Identity } from "../../base/pid.ts";
import { startedAt } from "../../base/pid.ts";
import type { Agents, AgentStatus, TerminalAgent } from "../../ports/agents.ts";
import type { LaunchId, SessionId } from "../../protocol/ids.ts";
import type { SessionState } from "../../protocol/session.ts";
import { activityOf, matchRules, matchScreen } from "./activity.ts";
import type { ActivitySeen, ScreenSays } from "./activity.ts";
import { HookReader, hookFileName } from "./hooks.ts";
import type { LaunchFiles, LaunchNote } from "./launch-files.ts";
import type { Pane } from "./panes.ts";

/** The server tells a pane's last activity in whole seconds: within this a screen may have changed again unseen. */
const activitySlackMs = 2000;
/** An agent that has begun long ago may have scrolled the signs of it away; no start takes longer on a busy machine. */
const beginMs = 60_000;

/** An agent says that it is idle before it takes up the prompt it was started with; within this it has confirmed it. */
const confirmMs = 20_000;
/** Set where an agent's hooks are really installed. */
const hooksVariable = "HOLDFAST_HOOKS";

export class LaunchWatch {
  readonly launch: LaunchId;
  readonly agent: TerminalAgent | null;
  readonly hooks: HookReader;
  readonly #chosenId: string | null;
  #process: { identity: Identity; startedAt: number } | null = null;
  #onScreen: ReadonlySet<number> = new Set();
  #capturedKey: string | null = null;
  #capturedAt = 0;
  #says: ScreenSays | null = null;
  /** It has something to begin with, and nothing shows yet that it did. */
  #awaitsBegin: boolean;
  /** Started with a prompt that a hook will confirm: until then it has work before it, whatever else it says. */
  readonly #hasPrompt: boolean;
  /** As tmux has it: the usual name may have been taken. */
  sessionName: string | null = null;
  /** Last lines of a dead pane: they do not change any more. */
  deadLines: string[] | null = null;
  /** When the agent was first seen gone although tmux still said that its pane lives. */
  goneSince: number | null = null;
  /** No process of this launch is left: it can have no new ones. */
  provenEmpty = false;

  /** `settled`: the note of a launch that has begun long ago and is on record says nothing new, so it is not read. */
  constructor(
    launch: LaunchId,
    agent: TerminalAgent | null,
    files: LaunchFiles,
    session: SessionId,
    settled: { agentSessionId: string | null } | null = null,
  ) {
    this.launch = launch;
    this.agent = agent;
    this.hooks = new HookReader(`${files.directory(session, launch)}/${hookFileName}`, agent?.hookRules ?? []);
    const note: Partial<LaunchNote> | null = settled ?? files.note(session, launch);
    this.#chosenId = note?.agentSessionId ?? null;
    const confirms = agent?.hookRules.some((rule) => rule.promptField !== undefined) ?? false;
    this.#hasPrompt = note?.promptTaken === true && confirms && agent?.env[hooksVariable] !== undefined;
    this.#awaitsBegin = agent?.begun !== undefined && (note?.promptTaken === true || note?.resumed === true);
  }

  get agentSessionId(): string | null {
    return this.hooks.state.agentSessionId ?? this.#readStatus()?.agentSessionId ?? this.#chosenId;
  }

  /** The agent's own status file, where it keeps one. */
  #readStatus(): AgentStatus | null {
    return this.#process === null ? null : (this.agent?.readStatus?.(this.#process.identity) ?? null);
  }

  /** The pane's process; when it started is worked out once, since a pane never changes its process. */
  process(identity: Identity): { identity: Identity; startedAt: number } {
    const known = this.#process;
    if (known?.identity.pid === identity.pid && known.identity.startTime === identity.startTime) return known;
    this.#process = { identity, startedAt: startedAt(identity) ?? Date.now() };
    return this.#process;
  }

  /** Whether the screen must be looked at: only where a rule needs it, hooks do not already say idle, and it changed. */
  wantsScreen(pane: Pane, now: number): boolean {
    if (this.agent === null || !this.agent.screenRules.some((rule) => rule.where === "screen")) return false;
    if (this.hooks.state.activity?.activity === "idle") return false;
    if (this.#readStatus() !== null) return false;
    return (
      pane.changeKey !== this.#capturedKey ||
      pane.activeAt + activitySlackMs > this.#capturedAt ||
      now < this.#capturedAt
    );
  }

  sawScreen(pane: Pane, screen: string, now: number): void {
    this.#onScreen = matchScreen(this.agent?.screenRules ?? [], screen);
    this.#capturedKey = pane.changeKey;
    this.#capturedAt = now;
    if (this.agent?.begun !== undefined && screen.search(this.agent.begun) >= 0) this.#awaitsBegin = false;
  }

  activity(pane: Pane, now: number): ActivitySeen | null {
    const seen = this.#activityShown(pane, now);
    const startedAt = this.#process?.startedAt ?? now;
    const begins = this.#hasPrompt && this.hooks.promptMark === 0 && now - startedAt < confirmMs;
    if (seen?.activity !== "idle" || !begins) return seen;
    return { activity: "working", source: "prompt", since: startedAt, reason: null };
  }

  #activityShown(pane: Pane, now: number): ActivitySeen | null {
    const own = this.#readStatus();
    // Its file is written a moment after its hooks fire: an older word must not hide a newer one.
    const told = this.hooks.state.activity;
    if (own !== null && (told === null || own.activity === told.activity || own.since >= told.at)) {
      return { activity: own.activity, source: "status", since: own.since, reason: own.reason };
    }
    const found = matchRules(this.agent?.screenRules ?? [], pane.title, this.#onScreen);
    if (found?.activity === "working" || now - (this.#process?.startedAt ?? now) > beginMs) this.#awaitsBegin = false;
    const match = found?.activity === "idle" && this.#awaitsBegin ? null : found;
    if (match === null) this.#says = null;
    else if (match.activity !== this.#says?.activity || match.where !== this.#says.where) {
      this.#says = { ...match, since: now };
    }
    return activityOf(this.hooks.state.activity, this.#says, now);
  }
}

function hasSettled({ run }: SessionState, launch: LaunchId): boolean {
  const ms = run.run === "up" && run.launch === launch ? Date.now() - run.at : 0;
  return ms > beginMs;
}

export class Watches {
  readonly #bySession = new Map<SessionId, LaunchWatch>();
  readonly #agents: Agents;
  readonly #files: LaunchFiles;

  constructor(agents: Agents, files: LaunchFiles) {
    this.#agents = agents;
    this.#files = files;
  }

  of(session: SessionState, launch: LaunchId): LaunchWatch {
    const known = this.#bySession.get(session.id);
    if (known?.launch === launch) return known;
    const agent = this.#agents.get(session.agent)?.terminal ?? null;
    const watch = new LaunchWatch(launch, agent, this.#files, session.id, hasSettled(session, launch) ? session : null);
    this.#bySession.set(session.id, watch);
    return watch;
  }

  known(session: SessionId): LaunchWatch | null {
    return this.#bySession.get(session) ?? null;
  }

  forget(session: SessionId): void {
    this.#bySession.delete(session);
  }
}
