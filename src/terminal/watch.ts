/** What the daemon remembers of one launch between two observations. All of it can be observed again. */
import { type Identity, readStat, startedAt } from "../base/pid.ts";
import type { Agents, AgentStatus, TerminalAgent } from "../ports/agents.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { activityOf, matchRules, matchScreen, type ActivitySeen, type ShownActivity, cpuTimeOf } from "./activity.ts";
import { HookReader, hookFileName } from "./hooks.ts";
import { inputOn, same, type InputSeen, lastLines } from "./screen.ts";
import type { LaunchFiles, LaunchNote } from "./launch-files.ts";
import type { Pane } from "./panes.ts";

/** tmux reports a pane's last activity in full seconds: within this a screen may have changed unnoticed. */
const activitySlackMs = 2000;
/** An agent whose input line has been visible this long has started: the sign of it may have scrolled away. */
const beginMs = 20_000;
/** A launch that has been on record this long has started. */
const settledMs = 60_000;

/** An agent started with a prompt may report idle first; within this it has confirmed the prompt. */
const confirmMs = 20_000;
/** How long an agent may take to write a reported prompt to its transcript on a busy machine. */
const writtenMs = 10_000;
/** Claude writes its replies 100 ms late, and nothing shows when. */
const settleMs = 300;
/** Set if the agent's hooks are installed. */
const hooksVariable = "HOLDFAST_HOOKS";
/** A screen that has not changed for this long and has no input line is an unknown dialog. */
const unknownMs = 60_000;
/** An agent that uses more of a core than this is still starting; one that shows a dialog uses less. */
const busyShare = 0.03;
/** How often the terminal of an unknown screen is checked. */
const terminalEveryMs = 10_000;
/** Lines of an unknown screen, shown as the reason. */
const unknownLines = 3;

/** Whether the agent itself reports which prompts it received. */
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
  /** A contained session's own home, as a path outside. */
  readonly #ownHome: string | null;
  #process: { identity: Identity; startedAt: number } | null = null;
  #onScreen: ReadonlySet<number> = new Set();
  #capturedKey: string | null = null;
  #capturedAt = 0;
  #shownActivity: ShownActivity | null = null;
  #screen = "";
  /** Since when the screen has not changed, as far as it was checked. */
  restSince = 0;
  input: InputSeen = { is: "hidden" };
  /** How many checks in a row found the input line empty. */
  #emptyLooks = 0;
  inputSince: number | null = null;
  #dialogSince: number | null = null;
  /** CPU time of the start, since its screen stopped changing. */
  #cpu: { restSince: number; from: number; at: number; used: number; isQuiet?: true } | null = null;
  #isOnlyStarting = false;
  #terminalAt = 0;
  /** Whether this launch accepts prompts. */
  isReady = false;
  /** When it last worked. */
  workedAt = 0;
  /** The keys pressed for the prompt that is not confirmed yet. */
  pressed: { promptId: string; enters: number; at: number } | null = null;
  /** Started with a prompt or a conversation, and not seen to have begun it. */
  #awaitsBegin: boolean;
  /** Started with a prompt that a hook will confirm: until then it counts as working. */
  readonly #hasPrompt: boolean;
  /** The actual tmux name: the usual one may have been taken. */
  sessionName: string | null = null;
  /** The last lines of a dead pane, which no longer change. */
  deadLines: string[] | null = null;
  /** When the agent was first seen gone while tmux still listed its pane as alive. */
  goneSince: number | null = null;
  /** No process of this launch is left, so there will be no new ones. */
  provenEmpty = false;

  /** `settled`: a launch that has been on record for a while; its note is not read. */
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

  /** The agent's own status file, if it has one. */
  #readStatus(): AgentStatus | null {
    return this.#process === null ? null : (this.agent?.readStatus?.(this.#process.identity, this.#ownHome) ?? null);
  }

  /** The pane's process; its start time is read once, since a pane never changes its process. */
  process(identity: Identity): { identity: Identity; startedAt: number } {
    const known = this.#process;
    if (known?.identity.pid === identity.pid && known.identity.startTime === identity.startTime) return known;
    this.#process = { identity, startedAt: startedAt(identity) ?? Date.now() };
    return this.#process;
  }

  /** Whether the screen must be captured: a rule needs it, the agent does not report its activity, and it changed. */
  wantsScreen(pane: Pane, now: number): boolean {
    if (this.agent === null) return false;
    const own = this.#readStatus();
    if (this.agent.input === undefined) {
      if (!this.agent.screenRules.some((rule) => rule.where === "screen")) return false;
      if (this.hooks.state.activity?.activity === "idle" || own !== null) return false;
    } else if (this.isReady && own !== null && own.activity !== "idle") return false;
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
    if (screen !== this.#screen || this.restSince === 0) [this.#screen, this.restSince] = [screen, now];
    this.input = this.agent?.input === undefined ? { is: "hidden" } : inputOn(this.agent.input, screen);
    const isEmpty = this.input.is === "empty";
    this.#emptyLooks = isEmpty ? this.#emptyLooks + 1 : 0;
    if (isEmpty) this.inputSince ??= now;
    if (isEmpty && !this.#awaitsBegin) this.isReady = true;
  }

  /** An empty input line, seen twice in a row: a starting agent may redraw its first one. */
  get inputStands(): boolean {
    return this.#emptyLooks >= 2 && !this.#awaitsBegin;
  }

  keepsPrompt(): boolean {
    const keeps = this.agent?.input?.keeps;
    return keeps !== undefined && this.#screen.search(keeps) >= 0;
  }

  /** Prompts in the agent's own transcript, if it has a readable one. */
  readPrompts(workspace: string, since: number): string[] {
    // The transcript remains even if this daemon never saw the process.
    const process = this.#process?.identity ?? { pid: 0, startTime: "" };
    const of = { process, workspace, agentSessionId: this.agentSessionId, since, ownHome: this.#ownHome };
    return this.agent?.readPrompts?.(of) ?? [];
  }

  /** Whether its latest turn is in its transcript, as far as that can be determined. */
  hasWritten(workspace: string, now: number): boolean {
    this.hooks.read();
    const { lastPrompt, state } = this.hooks;
    if (lastPrompt === null || this.agent?.readPrompts === undefined) return true;
    const since = Math.max(lastPrompt.at, state.activity?.at ?? 0);
    if (now - since > writtenMs || now < since) return true;
    if (now - since < settleMs) return false;
    return this.readPrompts(workspace, this.#process?.startedAt ?? 0).some((one) => same(one, lastPrompt.text));
  }

  /** Whether the agent shows when it is ready, and has not yet. */
  isStarting(pane: Pane, now: number): boolean {
    return showsReady(this.agent) && !this.isReady && this.activity(pane, now) === null;
  }

  activity(pane: Pane, now: number): ActivitySeen | null {
    const reported = this.reported(pane, now);
    if (reported?.activity === "working") this.workedAt = now;
    if (this.hooks.promptMark > 0 || reported?.activity === "working") this.isReady = true;
    if (this.agent?.input === undefined) {
      if (reported !== null) [this.isReady, this.inputSince] = [true, this.inputSince ?? now];
      return this.#orBegins(reported, now);
    }
    const dialog = reported === null || reported.activity === "idle" ? this.#dialogOnScreen(pane, reported, now) : null;
    if (dialog !== null) return dialog;
    // Text that the user typed: the line exists.
    if (reported?.activity === "idle" && this.input.is === "text" && !this.#awaitsBegin) this.isReady = true;
    // Titles, status files and start hooks come early: text typed before the input line is drawn is lost.
    if (reported?.activity === "idle" && !this.isReady) return this.#orBegins(null, now);
    return this.#orBegins(reported, now);
  }

  /** A dialog has no hook and may open while the agent reports `idle`; it replaces the input line. */
  #dialogOnScreen(pane: Pane, reported: ActivitySeen | null, now: number): ActivitySeen | null {
    const rule = matchRules(this.agent?.screenRules ?? [], "", this.#shown());
    const isOpen = rule?.activity === "needs_input";
    this.#dialogSince = isOpen ? (this.#dialogSince ?? now) : null;
    if (isOpen) return { activity: "needs_input", source: "screen", since: this.#dialogSince!, reason: rule.reason };
    if (!this.#isUnknown(reported) || this.#process === null) return null;
    const { pid } = this.#process.identity;
    if (!this.isReady && this.#cpu?.restSince !== this.restSince) this.#startCpu(pid, this.restSince);
    if (now - this.restSince < unknownMs || readStat(pid)?.state !== "S" || this.#isOnlyStarting) return null;
    if (pane.activeAt + activitySlackMs > now || (!this.isReady && this.#usesCpu(pid, now))) return null;
    const lines = lastLines(this.#screen, this.#screen.length).filter((line) => line.trim() !== "");
    const shown = lines.slice(-unknownLines).map((line) => line.trim().replaceAll(/\s+/g, " "));
    const reason = `It shows something Holdfast does not recognize${shown.length === 0 ? "" : `: ${shown.join(" / ")}`}`;
    return { activity: "needs_input", source: "screen", since: this.restSince, reason };
  }

  /** Whether the screen shows neither an input line nor a known dialog; a blank one does not count. */
  #isUnknown(reported: ActivitySeen | null): boolean {
    const isShown = this.restSince > 0 && this.#screen.trim() !== "";
    return this.input.is === "hidden" && isShown && !(this.isReady && reported !== null);
  }

  /** Whether the terminal must be checked before this screen counts as a dialog. */
  wantsTerminal(now: number): boolean {
    if (this.agent?.input === undefined || !this.#isUnknown(null)) return false;
    return now - this.restSince >= unknownMs && now - this.#terminalAt >= terminalEveryMs;
  }

  /** A program that neither put its terminal into raw mode nor reads from it shows no dialog. */
  sawTerminal(isOnlyStarting: boolean, now: number): void {
    [this.#isOnlyStarting, this.#terminalAt] = [isOnlyStarting, now];
  }

  #startCpu(pid: number, now: number): void {
    this.#cpu = { restSince: this.restSince, from: now, at: performance.now(), used: cpuTimeOf(pid) };
  }

  /** A start that uses the CPU is still starting, although nothing shows. Measured minute by minute. */
  #usesCpu(pid: number, now: number): boolean {
    const begun = this.#cpu;
    if (begun === null || begun.from + unknownMs > now) return true;
    if (begun.isQuiet === true) return false;
    const isBusy = cpuTimeOf(pid) - begun.used > busyShare * (performance.now() - begun.at);
    if (isBusy) this.#startCpu(pid, now);
    else this.#cpu = { ...begun, isQuiet: true };
    return isBusy;
  }

  /** Dialogs replace the input line: above one, their text is part of a conversation. */
  #shown(): ReadonlySet<number> {
    const { choices } = this.agent?.input ?? {};
    const mayBeList = this.input.is === "text" && choices !== undefined && this.input.text.search(choices) >= 0;
    if (this.input.is === "hidden" || mayBeList) return this.#onScreen;
    return new Set([...this.#onScreen].filter((index) => this.agent?.screenRules[index]?.activity !== "needs_input"));
  }

  /** Until it confirms the prompt it was started with, it counts as working. */
  #orBegins(seen: ActivitySeen | null, now: number): ActivitySeen | null {
    const startedAt = this.#process?.startedAt ?? now;
    const begins = this.#hasPrompt && this.hooks.promptMark === 0 && now - startedAt < confirmMs;
    if (seen?.activity !== "idle" || !begins) return seen;
    return { activity: "working", source: "prompt", since: startedAt, reason: null };
  }

  /** The activity by hooks, status file, title and screen, even if the agent is not ready for a prompt yet. */
  reported(pane: Pane, now: number): ActivitySeen | null {
    const own = this.#readStatus();
    // The file is written a moment after the hooks fire: an older status must not hide a newer one.
    const reported = this.hooks.state.activity;
    if (own !== null && (reported === null || own.activity === reported.activity || own.since >= reported.at)) {
      return { activity: own.activity, source: "status", since: own.since, reason: own.reason };
    }
    const found = matchRules(this.agent?.screenRules ?? [], pane.title, this.#shown());
    const ageMs = now - (this.#process?.startedAt ?? now);
    const shownMs = this.inputSince === null ? 0 : now - this.inputSince;
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
