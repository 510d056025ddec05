/**
 * The daemon's state as the page knows it: the sessions by id, the login and the connection. Display settings are in
 * preferences.ts; the page has no other state.
 */
import { createStore, useStore } from "zustand";
import { columnOf } from "../../../model/board.ts";
import { includes, type Right } from "../../../contract/rights.ts";
import type { FollowingDevice } from "../../../contract/stream.ts";
import type { DeviceJson } from "../../../contract/device.ts";
import type { SessionJson } from "../../../contract/session.ts";
import type { EventJson } from "../../../contract/stream.ts";

export type Login =
  | { is: "checking" }
  | { is: "in" }
  | { is: "out"; why: string | null }
  /** Plain HTTP from another machine: browsers store no keys for such a page. */
  | { is: "insecure" };

export type Line =
  | { is: "connecting"; attempt: number }
  | { is: "open" }
  /** Retried at `until`. */
  | { is: "waiting"; attempt: number; until: number }
  | { is: "closed" };

export interface Live {
  login: Login;
  line: Line;
  /** This browser as the daemon knows it; null before the first response. */
  device: FollowingDevice | null;
  /** Of the daemon that responded last; null before the first response. */
  daemon: { version: string; build: string } | null;
  /** False until the first snapshot. */
  loaded: boolean;
  /** How many snapshots were received: each replaces everything. */
  snapshots: number;
  sessions: ReadonlyMap<string, SessionJson>;
  /** Ids deleted while this page was open, here or elsewhere. */
  deleted: ReadonlySet<string>;
}

export const live = createStore<Live>(() => ({
  login: { is: "checking" },
  line: { is: "connecting", attempt: 0 },
  device: null,
  daemon: null,
  loaded: false,
  snapshots: 0,
  sessions: new Map(),
  deleted: new Set(),
}));

export function useLive<T>(select: (state: Live) => T): T {
  return useStore(live, select);
}

export function needsYouCount({ sessions }: Live): number {
  let count = 0;
  for (const session of sessions.values()) if (columnOf(session) === "you") count++;
  return count;
}

export function useSession(id: string): SessionJson | undefined {
  return useStore(live, (state) => state.sessions.get(id));
}

export type SessionEventJson = EventJson & { session: string };
type Listener = (events: readonly SessionEventJson[]) => void;

const listeners = new Map<string, Set<Listener>>();
const all = "*";

/**
 * Calls back with each batch of a session's new events (`*`: of all sessions). After a lost connection the events in
 * between follow, or the session's `seq` in the store shows that some are missing.
 */
export function onEvents(session: string, listener: Listener): () => void {
  const set = listeners.get(session) ?? new Set();
  listeners.set(session, set.add(listener));
  return () => {
    set.delete(listener);
    if (set.size === 0) listeners.delete(session);
  };
}

export function emitEvents(events: readonly SessionEventJson[]): void {
  if (listeners.size === 0 || events.length === 0) return;
  for (const listener of listeners.get(all) ?? []) listener(events);
  for (const [session, batch] of Map.groupBy(events, (event) => event.session)) {
    for (const listener of listeners.get(session) ?? []) listener(batch);
  }
}

/** A session as it was and as it is; `before` is undefined for a new one. */
export interface SessionChange {
  before: SessionJson | undefined;
  after: SessionJson;
}
const changeListeners = new Set<(changes: readonly SessionChange[]) => void>();

/** Calls back with the changes of the stream. A snapshot is not a change: it does not show when it happened. */
export function onChanges(listener: (changes: readonly SessionChange[]) => void): () => void {
  changeListeners.add(listener);
  return () => changeListeners.delete(listener);
}

export function emitChanges(changes: readonly SessionChange[]): void {
  if (changes.length > 0) for (const listener of changeListeners) listener(changes);
}

const deviceListeners = new Set<(added: DeviceJson | null) => void>();

/** Calls back when the list of devices changed, with the new device if there is one. */
export function onDevices(listener: (added: DeviceJson | null) => void): () => void {
  deviceListeners.add(listener);
  return () => deviceListeners.delete(listener);
}

export function emitDevices(added: DeviceJson | null): void {
  for (const listener of deviceListeners) listener(added);
}

/** Whether this device has a right. True until the daemon reports its rights: the daemon refuses on its own. */
export function useMay(right: Right): boolean {
  return useStore(live, ({ device }) => includes(device?.rights ?? "all", right));
}
