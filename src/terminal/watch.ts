/** What the daemon remembers of one launch between two looks. Everything in it can be found again by looking. */
import { type Identity, readStat, startedAt } from "../base/pid.ts";
import type { Agents, AgentStatus, TerminalAgent } from "../ports/agents.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { activityOf, matchRules, matchScreen, type ActivitySeen, type ShownActivity, cpuTimeOf } from "./activity.ts";
import { HookReader, hookFileName } from "./hooks.ts";
import { inputOn, same, type InputSeen, lastLines } from "./screen.ts";
import type { LaunchFiles, LaunchNote } from "./launch-files.ts";
import type { Pane } from "./panes.ts";

/** The server tells a pane's last activity in complete seconds: within this a screen may have changed again unseen. */
const activitySlackMs = 2000;
/** An agent whose input line shows for so long has begun: it may have scrolled the signs of it away. */
const beginMs = 20_000;
/** A launch that is on record for so long has begun. */
const settledMs = 60_000;

/** An agent says that it is idle before it resumes the prompt it was started with; within this it has confirmed it. */
const confirmMs = 20_000;
/** An agent writes what it reported to its transcript within this, also on a busy machine. */
const writtenMs = 10_000;
/** Claude writes its answers 100 ms late; that they are there cannot be seen. */
const settleMs = 300;
/** Set where an agent's hooks are really installed. */
const hooksVariable = "HOLDFAST_HOOKS";
/** A screen at rest for so long without an input line is something that waits for an answer, known to us or not. */
const strangeMs = 60_000;
/** A start that uses more of a core than this is still starting; a screen that waits for an answer uses less. */
const busyShare = 0.03;
/** The terminal of a strange screen is asked so often. */
const terminalEveryMs = 10_000;
/** Lines of a screen that is not known, given as the reason. */
const strangeLines = 3;

/** Whether the agent itself reports which prompts it took. */
export function confirmsPrompts(agent: TerminalAgent | null): boolean {
  if (agent === null) return false;
  const isHooked = agent.env[hooksVariable] !== undefined;
  return (
    (isHooked && agent.hookRules.some((rule) => rule.promptField !== undefined)) || agent.readPrompts !== undefined
  );
}

/** Whether something will show that the agent is ready for its first prompt. */
export function showsReady(agent: TerminalAgent | null): boolean {
  return agent !== null && (agent.input !== undefined || agent.env[hooksVariable] !== undefined);
}

export class LaunchWatch {
  readonly launch: LaunchId;
  readonly agent: TerminalAgent | null;
  readonly hooks: HookReader;
  readonly #chosenId: string | null;
  /** Of a contained session: its agent's home, as it is outside. */
  readonly #ownHome: string | null;
  #process: { identity: Identity; startedAt: number } | null = null;
  #onScreen: ReadonlySet<number> = new Set();
  #capturedKey: string | null = null;
  #capturedAt = 0;
  #shownActivity: ShownActivity | null = null;
  #screen = "";
  /** Since when the screen shows the same, as far as it was checked. */
  #restSince = 0;
  #input: InputSeen = { is: "hidden" };
  /** Looks in a row that found the input line empty. */
  #emptyLooks = 0;
  #inputSince: number | null = null;
  #dialogSince: number | null = null;
  /** CPU time of the start, from when its screen came to rest. */
  #cpu: { restSince: number; from: number; at: number; used: number; isQuiet?: true } | null = null;
  #isOnlyStarting = false;
  #terminalAt = 0;
  /** It has shown in this launch that it takes prompts. */
  #ready = false;
  /** When it was last seen at a turn. */
  #workedAt = 0;
  /** What was pressed for the prompt that is not confirmed yet. */
  pressed: { promptId: string; enters: number; at: number } | null = null;
  /** It has something to begin with, and nothing shows yet that it did. */
  #awaitsBegin: boolean;
  /** Started with a prompt that a hook will confirm: until then it has work before it, whatever else it says. */
  readonly #hasPrompt: boolean;
  /** As tmux has it: the usual name may have been taken. */
  sessionName: string | null = null;
  /** Last lines of a dead pane: they do not change anymore. */
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
    ownHome: string | null = null,
  ) {
    this.#ownHome = ownHome;
    this.launch = launch;
    this.agent = agent;
    this.hooks = new HookReader(`${files.directory(session, launch)}/${hookFileName}`, agent?.hookRules ?? []);
    const note: Partial<LaunchNote> | null = settled ?? files.note(session, launch);
    this.#chosenId = note?.agentSessionId ?? null;
    this.#hasPrompt = note?.promptTaken === true && agent?.env[hooksVariable] !== undefined && confirmsPrompts(agent);
    this.#awaitsBegin = agent?.begun !== undefined && (note?.promptTaken === true || note?.resumed === true);
  }

  get agentSessionId(): string | null {
    return this.hooks.state.agentSessionId ?? this.#readStatus()?.agentSessionId ?? this.#chosenId;
  }

  /** The agent's own status file, where it keeps one. */
  #readStatus(): AgentStatus | null {
    return this.#process === null ? null : (this.agent?.readStatus?.(this.#process.identity, this.#ownHome) ?? null);
  }

  /** The pane's process; when it started is worked out once, since a pane never changes its process. */
  process(identity: Identity): { identity: Identity; startedAt: number } {
    const known = this.#process;
    if (known?.identity.pid === identity.pid && known.identity.startTime === identity.startTime) return known;
    this.#process = { identity, startedAt: startedAt(identity) ?? Date.now() };
    return this.#process;
  }

  /** Whether the screen must be checked: only where a rule needs it, the agent does not say it itself, and it changed. */
  wantsScreen(pane: Pane, now: number): boolean {
    if (this.agent === null) return false;
    const own = this.#readStatus();
    if (this.agent.input === undefined) {
      if (!this.agent.screenRules.some((rule) => rule.where === "screen")) return false;
      if (this.hooks.state.activity?.activity === "idle" || own !== null) return false;
    } else if (this.#ready && own !== null && own.activity !== "idle") return false;
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
    if (screen !== this.#screen || this.#restSince === 0) [this.#screen, this.#restSince] = [screen, now];
    this.#input = this.agent?.input === undefined ? { is: "hidden" } : inputOn(this.agent.input, screen);
    const isEmpty = this.#input.is === "empty";
    this.#emptyLooks = isEmpty ? this.#emptyLooks + 1 : 0;
    if (isEmpty) this.#inputSince ??= now;
    if (isEmpty && !this.#awaitsBegin) this.#ready = true;
  }

  get input(): InputSeen {
    return this.#input;
  }

  /** An empty input line, seen twice in a row: one that is drawn while the agent starts may be drawn again. */
  get inputStands(): boolean {
    return this.#emptyLooks >= 2 && !this.#awaitsBegin;
  }

  get restSince(): number {
    return this.#restSince;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** For an agent of which nothing shows that it is ready: it took a prompt, or its screen came to rest. */
  tookOver(): void {
    this.#ready = true;
  }

  get workedAt(): number {
    return this.#workedAt;
  }

  /** When the input line was first seen, or the first word of an agent whose line is not known. */
  get readySince(): number {
    return this.#inputSince ?? 0;
  }

  keepsPrompt(): boolean {
    const keeps = this.agent?.input?.keeps;
    return keeps !== undefined && this.#screen.search(keeps) >= 0;
  }

  /** Prompts in the agent's own transcript, where it keeps one that can be read. */
  readPrompts(workspace: string, since: number): string[] {
    // An agent that ended before this daemon saw it leaves its transcript all the same.
    const process = this.#process?.identity ?? { pid: 0, startTime: "" };
    const of = { process, workspace, agentSessionId: this.agentSessionId, since, ownHome: this.#ownHome };
    return this.agent?.readPrompts?.(of) ?? [];
  }

  /** Whether its latest turn is in its transcript, as far as that can be known. */
  hasWritten(workspace: string, now: number): boolean {
    this.hooks.read();
    const { lastPrompt, state } = this.hooks;
    if (lastPrompt === null || this.agent?.readPrompts === undefined) return true;
    const since = Math.max(lastPrompt.at, state.activity?.at ?? 0);
    if (now - since > writtenMs || now < since) return true;
    if (now - since < settleMs) return false;
    return this.readPrompts(workspace, this.#process?.startedAt ?? 0).some((one) => same(one, lastPrompt.text));
  }

  /** Whether the agent is known to show when it is ready, and has not yet. */
  isStarting(pane: Pane, now: number): boolean {
    return showsReady(this.agent) && !this.#ready && this.activity(pane, now) === null;
  }

  activity(pane: Pane, now: number): ActivitySeen | null {
    const reported = this.reported(pane, now);
    if (reported?.activity === "working") this.#workedAt = now;
    if (this.hooks.promptMark > 0 || reported?.activity === "working") this.#ready = true;
    if (this.agent?.input === undefined) {
      if (reported !== null) [this.#ready, this.#inputSince] = [true, this.#inputSince ?? now];
      return this.#orBegins(reported, now);
    }
    const asks = reported === null || reported.activity === "idle" ? this.#asksOnScreen(pane, reported, now) : null;
    if (asks !== null) return asks;
    // A user's text in it: the line is there.
    if (reported?.activity === "idle" && this.#input.is === "text" && !this.#awaitsBegin) this.#ready = true;
    // Titles, status files and start hooks are early: what is typed before the input line shows is lost.
    if (reported?.activity === "idle" && !this.#ready) return this.#orBegins(null, now);
    return this.#orBegins(reported, now);
  }

  /** A dialog has no hook and may open while the agent's own word is `idle`; it takes the place of the input line. */
  #asksOnScreen(pane: Pane, reported: ActivitySeen | null, now: number): ActivitySeen | null {
    const rule = matchRules(this.agent?.screenRules ?? [], "", this.#shown());
    const asks = rule?.activity === "needs_input";
    this.#dialogSince = asks ? (this.#dialogSince ?? now) : null;
    if (asks) return { activity: "needs_input", source: "screen", since: this.#dialogSince!, reason: rule.reason };
    if (!this.#isStrange(reported) || this.#process === null) return null;
    const { pid } = this.#process.identity;
    if (!this.#ready && this.#cpu?.restSince !== this.#restSince) this.#startCpu(pid, this.#restSince);
    if (now - this.#restSince < strangeMs || readStat(pid)?.state !== "S" || this.#isOnlyStarting) return null;
    if (pane.activeAt + activitySlackMs > now || (!this.#ready && this.#usesCpu(pid, now))) return null;
    const lines = lastLines(this.#screen, this.#screen.length).filter((line) => line.trim() !== "");
    const shown = lines.slice(-strangeLines).map((line) => line.trim().replaceAll(/\s+/g, " "));
    const reason = `It shows something Holdfast does not recognize${shown.length === 0 ? "" : `: ${shown.join(" / ")}`}`;
    return { activity: "needs_input", source: "screen", since: this.#restSince, reason };
  }

  /** A blank screen asks nothing. */
  #isStrange(reported: ActivitySeen | null): boolean {
    const isShown = this.#restSince > 0 && this.#screen.trim() !== "";
    return this.#input.is === "hidden" && isShown && !(this.#ready && reported !== null);
  }

  /** Whether the terminal itself must be asked before this screen counts as a question. */
  wantsTerminal(now: number): boolean {
    if (this.agent?.input === undefined || !this.#isStrange(null)) return false;
    return now - this.#restSince >= strangeMs && now - this.#terminalAt >= terminalEveryMs;
  }

  /** A program that has neither taken its terminal over nor reads from it waits for no answer. */
  sawTerminal(isOnlyStarting: boolean, now: number): void {
    [this.#isOnlyStarting, this.#terminalAt] = [isOnlyStarting, now];
  }

  #startCpu(pid: number, now: number): void {
    this.#cpu = { restSince: this.#restSince, from: now, at: performance.now(), used: cpuTimeOf(pid) };
  }

  /** A start that computes is still starting, although nothing shows. Measured over a minute, then again. */
  #usesCpu(pid: number, now: number): boolean {
    const begun = this.#cpu;
    if (begun === null || begun.from + strangeMs > now) return true;
    if (begun.isQuiet === true) return false;
    const isBusy = cpuTimeOf(pid) - begun.used > busyShare * (performance.now() - begun.at);
    if (isBusy) this.#startCpu(pid, now);
    else this.#cpu = { ...begun, isQuiet: true };
    return isBusy;
  }

  /** Dialogs take the place of the input line: above one, their words are part of a conversation. */
  #shown(): ReadonlySet<number> {
    const { choices } = this.agent?.input ?? {};
    const mayBeList = this.#input.is === "text" && choices !== undefined && this.#input.text.search(choices) >= 0;
    if (this.#input.is === "hidden" || mayBeList) return this.#onScreen;
    return new Set([...this.#onScreen].filter((index) => this.agent?.screenRules[index]?.activity !== "needs_input"));
  }

  /** Started with a prompt that it has not confirmed: it has work before it. */
  #orBegins(seen: ActivitySeen | null, now: number): ActivitySeen | null {
    const startedAt = this.#process?.startedAt ?? now;
    const begins = this.#hasPrompt && this.hooks.promptMark === 0 && now - startedAt < confirmMs;
    if (seen?.activity !== "idle" || !begins) return seen;
    return { activity: "working", source: "prompt", since: startedAt, reason: null };
  }

  /** What hooks, status file, title and screen say, also where the agent is not ready for a prompt yet. */
  reported(pane: Pane, now: number): ActivitySeen | null {
    const own = this.#readStatus();
    // Its file is written a moment after its hooks fire: an older word must not hide a newer one.
    const reported = this.hooks.state.activity;
    if (own !== null && (reported === null || own.activity === reported.activity || own.since >= reported.at)) {
      return { activity: own.activity, source: "status", since: own.since, reason: own.reason };
    }
    const found = matchRules(this.agent?.screenRules ?? [], pane.title, this.#shown());
    const ageMs = now - (this.#process?.startedAt ?? now);
    const shownMs = this.#inputSince === null ? 0 : now - this.#inputSince;
    const isOld = this.agent?.input === undefined ? ageMs > settledMs : shownMs > beginMs;
    if (found?.activity === "working" || isOld) this.#awaitsBegin = false;
    const match = found?.activity === "idle" && this.#awaitsBegin ? null : found;
    if (match === null) this.#shownActivity = null;
    else if (match.activity !== this.#shownActivity?.activity || match.where !== this.#shownActivity.where) {
      this.#shownActivity = { ...match, since: now };
    }
    return activityOf(this.hooks.state.activity, this.#shownActivity, now);
  }
}

function hasSettled({ run }: SessionState, launch: LaunchId): boolean {
  const ms = run.run === "up" && run.launch === launch ? Date.now() - run.at : 0;
  return ms > settledMs;
}

export class Watches {
  readonly #bySession = new Map<SessionId, LaunchWatch>();
  readonly #agents: Agents;
  readonly #files: LaunchFiles;

  readonly #ownHome: (session: SessionState) => string | null;

  constructor(agents: Agents, files: LaunchFiles, ownHome: (session: SessionState) => string | null = () => null) {
    this.#agents = agents;
    this.#files = files;
    this.#ownHome = ownHome;
  }

  of(session: SessionState, launch: LaunchId): LaunchWatch {
    const known = this.#bySession.get(session.id);
    if (known?.launch === launch) return known;
    const agent = this.#agents.of(session)?.terminal ?? null;
    const settled = hasSettled(session, launch) ? session : null;
    const watch = new LaunchWatch(launch, agent, this.#files, session.id, settled, this.#ownHome(session));
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
