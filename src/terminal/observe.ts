/**
 * One check all sessions: one `list-panes`, the kernel's word on each agent, and, only where something is missing,
 * one pass over /proc for what is left of it. Absence is claimed with its proof or not at all.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { identify, readStat, signalIdentity, startedAt, type Identity } from "../base/pid.ts";
import { findTree, isTmuxServer, type TreeMember } from "../base/process-tree.ts";
import type { Logger } from "../ports/api.ts";
import type { Absence, Observation, RuntimeSeen } from "../ports/runtime.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { isStopping } from "../base/stop-mark.ts";
import { treeTarget, type LaunchFiles } from "./launch-files.ts";
import { awaitsExit, listPanes, paneFor, remind, type Pane, type PaneList } from "./panes.ts";
import { captureScreens, lastLines, isRaw, readsTerminal } from "./screen.ts";
import type { Tmux } from "./tmux.ts";
import { confirmsPrompts, type LaunchWatch, type Watches } from "./watch.ts";

export interface ObserveContext {
  tmux: Tmux;
  socketName: string;
  files: LaunchFiles;
  watches: Watches;
  bootId: string;
  log: Logger | null;
}

/** Lines kept for the record of a death. */
export const deathLines = 40;
/** Between the agent's death and tmux's word on how it died; longer means that tmux does not know. */
const exitWordMs = 2000;
const lookAgainMs = 20;
const lookAgainTimes = 3;

export async function observeAll(
  context: ObserveContext,
  sessions: readonly SessionState[],
  /** A list that was asked for already. */
  early: Promise<PaneList> | null = null,
): Promise<Map<SessionId, Observation>> {
  const { list, agents } = await settledList(context, sessions, early);
  const panes = Map.groupBy(list.is === "known" ? list.panes : [], (pane) => pane.session);
  const result = new Map<SessionId, Observation>();
  const found: Found[] = [];
  const missing: SessionState[] = [];
  for (const session of sessions) {
    const pane = paneFor(panes.get(session.id) ?? [], expectedLaunch(session));
    if (pane !== null) found.push(foundOf(context, session, pane, agents));
    else if (list.is === "unknown") result.set(session.id, notObserved(context, session, list.why));
    else missing.push(session);
  }
  await Promise.all([
    describeFound(context, found, result),
    ...missing.map(async (session) => {
      result.set(session.id, await describeMissing(context, session, list));
    }),
  ]);
  return result;
}

interface Found {
  session: SessionState;
  pane: Pane;
  watch: LaunchWatch;
  agent: { identity: Identity; startedAt: number } | null;
}

function foundOf(context: ObserveContext, session: SessionState, pane: Pane, agents: Map<number, Identity>): Found {
  const watch = context.watches.of(session, pane.launch);
  const identity = pane.dead ? undefined : agents.get(pane.pid);
  return { session, pane, watch, agent: identity === undefined ? null : watch.process(identity) };
}

export function expectedLaunch(session: SessionState): LaunchId | null {
  return session.run.run === "none" ? null : session.run.launch;
}

/** An agent that died this instant is still alive in tmux's list: look again until tmux says how it ended. */
async function settledList(
  context: ObserveContext,
  sessions: readonly SessionState[],
  early: Promise<PaneList> | null,
): Promise<{ list: PaneList; agents: Map<number, Identity> }> {
  const wanted = new Set(sessions.map((session) => session.id));
  for (let round = 0; ; round += 1) {
    const list = await (round === 0 && early !== null ? early : listPanes(context.tmux));
    const panes = list.is === "known" ? list.panes.filter((pane) => wanted.has(pane.session)) : [];
    // Asked once a look: with 500 sessions each question to the kernel counts.
    const agents = new Map(panes.flatMap((pane) => (pane.dead ? [] : entryOf(pane.pid))));
    const waiting = panes.filter((pane) => awaitsExit(pane, agents) && isFresh(context, pane));
    if (waiting.length === 0 || round === lookAgainTimes) return { list, agents };
    remind(waiting);
    await delay(lookAgainMs);
  }
}

function entryOf(pid: number): [number, Identity][] {
  const identity = identify(pid);
  return identity === null ? [] : [[pid, identity]];
}

/** Tmux before 3.3 never names a signal: what has been waited for once is not waited for on every look. */
function isFresh(context: ObserveContext, pane: Pane): boolean {
  const since = context.watches.known(pane.session)?.goneSince ?? null;
  return since === null || Date.now() - since < exitWordMs;
}

async function describeFound(
  context: ObserveContext,
  found: readonly Found[],
  result: Map<SessionId, Observation>,
): Promise<void> {
  const now = Date.now();
  for (const { pane, watch } of found) {
    watch.sessionName = pane.sessionName;
    watch.hooks.read();
  }
  const wanting = found.filter(({ pane, watch }) => !pane.dead && watch.wantsScreen(pane, now));
  const screens = await captureScreens(
    context.tmux,
    wanting.map(({ pane }) => pane.paneTarget),
  );
  for (const { pane, watch } of wanting) {
    const screen = screens.get(pane.paneTarget);
    if (screen !== undefined) watch.sawScreen(pane, screen, now);
  }
  const dead = found.filter(({ pane, watch }) => pane.dead && watch.deadLines === null);
  await readDeadLines(context.tmux, dead);
  await Promise.all(
    found.map(async (one) => {
      result.set(one.session.id, await describe(context, one, now));
    }),
  );
}

async function readDeadLines(tmux: Tmux, dead: readonly Found[]): Promise<void> {
  const screens = await captureScreens(
    tmux,
    dead.map(({ pane }) => pane.paneTarget),
    deathLines,
  );
  for (const { pane, watch } of dead) {
    const screen = screens.get(pane.paneTarget);
    if (screen !== undefined) watch.deadLines = lastLines(screen, deathLines);
  }
}

async function describe(context: ObserveContext, one: Found, now: number): Promise<Observation> {
  const { session, pane, watch, agent } = one;
  const base = { launch: pane.launch, agentSessionId: watch.agentSessionId };
  if (agent !== null) {
    watch.goneSince = null;
    if (watch.wantsTerminal(now)) {
      watch.sawTerminal((await isRaw(pane.tty)) === false && readsTerminal(pane) !== true, now);
    }
    return known({
      ...base,
      agent: { alive: true, identity: agent.identity },
      processes: [{ identity: agent.identity, what: "agent", startedAt: agent.startedAt }],
      activity: watch.activity(pane, now),
      starting: watch.isStarting(pane, now),
      prompted: watch.hooks.promptMark > 0,
      ...(watch.hooks.state.said === null ? {} : { lastMessage: watch.hooks.state.said }),
      lastLines: [],
      ...(session.run.run === "launching"
        ? {
            promptTaken: context.files.note(session.id, pane.launch)?.promptTaken ?? false,
            promptConfirmed: confirmsPrompts(watch.agent) ? ("later" as const) : ("never" as const),
          }
        : {}),
    });
  }
  if (awaitsExit(pane)) {
    watch.goneSince ??= now;
    if (now - watch.goneSince < exitWordMs) {
      return { seen: { is: "unknown", why: "the agent has just ended; tmux has not said how" }, cause: null };
    }
    if (watch.deadLines === null) await readDeadLines(context.tmux, [one]);
  }
  const seen = known({
    ...base,
    agent: { alive: false, exit: pane.exit },
    processes: processesOf(await leftOver(context, session, watch), now),
    activity: null,
    lastLines: watch.deadLines ?? [],
  });
  return isStopping(context.files.directory(session.id, pane.launch)) ? { ...seen, cause: "stopped" } : seen;
}

/** No pane has it: what of it still lives, and if nothing does, what proves that. */
async function describeMissing(context: ObserveContext, session: SessionState, list: PaneList): Promise<Observation> {
  const launch = expectedLaunch(session) ?? context.files.notes(session.id)[0]?.launch ?? null;
  const watch = launch === null ? null : context.watches.of(session, launch);
  const left = watch === null ? [] : await leftOver(context, session, watch);
  if (launch === null || watch === null || left.length === 0) return absent(absenceOf(context, session, list));
  const server = serverOf(left, context.socketName);
  if (server !== null) {
    // The server lives but its socket file is gone. On this signal tmux makes it again.
    if (list.is === "no-server" && signalIdentity(server, "SIGUSR1")) {
      context.log?.warn("the tmux server had lost its socket and was asked to make it again", { pid: server.pid });
    }
    return { seen: { is: "unknown", why: "its tmux server runs but cannot be reached by its socket" }, cause: null };
  }
  // Of a home that was copied or lost the name of its server: whatever the record says, it is not ours to end.
  if (serverOf(left, null) !== null) {
    return { seen: { is: "unknown", why: "its agent runs in a tmux server of another home" }, cause: null };
  }
  const seen = known({
    launch,
    agent: { alive: false, exit: null },
    processes: processesOf(left, Date.now()),
    activity: null,
    agentSessionId: watch.agentSessionId,
    lastLines: [],
  });
  if (isStopping(context.files.directory(session.id, launch))) return { ...seen, cause: "stopped" };
  // What it left may need a moment to end: it is lost with its server all the same, and did not crash.
  return list.is === "no-server" ? { ...seen, cause: "no-server" } : seen;
}

async function leftOver(context: ObserveContext, session: SessionState, watch: LaunchWatch): Promise<TreeMember[]> {
  if (watch.provenEmpty) return [];
  const left = await findTree(treeTarget(session, context.files, []));
  watch.provenEmpty = left.length === 0;
  return left;
}

function absenceOf(context: ObserveContext, session: SessionState, list: PaneList): Absence {
  if (isOtherBoot(context, session)) return "other-boot";
  const launch = expectedLaunch(session);
  if (launch !== null && isStopping(context.files.directory(session.id, launch))) return "stopped";
  return list.is === "no-server" ? "no-server" : "identity-gone";
}

function isOtherBoot(context: ObserveContext, session: SessionState): boolean {
  const recorded = session.run.run === "up" ? session.run.agent : null;
  return recorded !== null && recorded.bootId !== context.bootId;
}

/** tmux did not answer: only another boot is proof enough that nothing is left. */
function notObserved(context: ObserveContext, session: SessionState, why: string): Observation {
  return isOtherBoot(context, session) ? absent("other-boot") : { seen: { is: "unknown", why }, cause: null };
}

/** A live tmux server with this socket name, or of any home, that still holds one of these processes. */
function serverOf(members: readonly TreeMember[], socketName: string | null): ReturnType<typeof identify> {
  for (const { identity } of members) {
    const parent = readStat(identity.pid)?.parent;
    if (parent === undefined || !isTmuxServer(parent)) continue;
    const server = identify(parent);
    const command = commandOf(parent);
    const named = socketName === null ? command.some((word) => homeSocket.test(word)) : command.includes(socketName);
    if (server !== null && named) return server;
  }
  return null;
}

const homeSocket = /^holdfast-[0-9a-f]{12}/;

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function processesOf(members: readonly TreeMember[], now: number): RuntimeSeen["processes"] {
  return members.map(({ identity, what }) => ({ identity, what, startedAt: startedAt(identity) ?? now }));
}

const known = (value: RuntimeSeen): Observation => ({ seen: { is: "known", value }, cause: null });
const absent = (cause: Absence): Observation => ({ seen: { is: "absent" }, cause });
