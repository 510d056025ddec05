/**
 * What the daemon says, as it says it: the sessions by id and how the line to it stands. The page has no other state
 * beyond what is shown how (see preferences.ts).
 */
import { createStore, useStore } from "zustand";
import { includes, type Right } from "../../../contract/rights.ts";
import type { FollowingDevice } from "../../../contract/stream.ts";
import type { DeviceJson, EventJson, SessionJson } from "../../../contract/wire.ts";

export type Login =
  | { is: "checking" }
  | { is: "in" }
  | { is: "out"; why: string | null }
  /** Plain http from another machine: browsers keep no keys for such a page. */
  | { is: "insecure" };

export type Line =
  | { is: "connecting"; attempt: number }
  | { is: "open" }
  /** Tried again at `until`. */
  | { is: "waiting"; attempt: number; until: number }
  | { is: "closed" };

export interface Live {
  login: Login;
  line: Line;
  /** This browser as the daemon knows it; null before the first answer. */
  device: FollowingDevice | null;
  /** Of the daemon that answered last; null before the first answer. */
  daemon: { version: string; build: string } | null;
  /** False until the first snapshot has come. */
  loaded: boolean;
  /** How many snapshots have come: each replaces everything. */
  snapshots: number;
  sessions: ReadonlyMap<string, SessionJson>;
  /** Ids that were deleted while this page was open, here or elsewhere. */
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

export function useSession(id: string): SessionJson | undefined {
  return useStore(live, (state) => state.sessions.get(id));
}

export type SessionEventJson = EventJson & { session: string };
type Listener = (events: readonly SessionEventJson[]) => void;

const listeners = new Map<string, Set<Listener>>();
const all = "*";

/**
 * Calls back with each batch of a session's events (`*`: of all sessions) as they come. Events that came before are not
 * told; after a break in the line those in between are, or the session's `seq` in the store shows that some are missing.
 */
export function onEvents(session: string, listener: Listener): () => void {
  const set = listeners.get(session) ?? new Set();
  listeners.set(session, set.add(listener));
  return () => {
    set.delete(listener);
    if (set.size === 0) listeners.delete(session);
  };
}

export function tellEvents(events: readonly SessionEventJson[]): void {
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

/** Calls back with what the stream changed. A snapshot is no change: nobody knows when that happened. */
export function onChanges(listener: (changes: readonly SessionChange[]) => void): () => void {
  changeListeners.add(listener);
  return () => changeListeners.delete(listener);
}

export function tellChanges(changes: readonly SessionChange[]): void {
  if (changes.length > 0) for (const listener of changeListeners) listener(changes);
}

const deviceListeners = new Set<(added: DeviceJson | null) => void>();

/** Calls back when the list of devices changed, with the one that is new. */
export function onDevices(listener: (added: DeviceJson | null) => void): () => void {
  deviceListeners.add(listener);
  return () => deviceListeners.delete(listener);
}

export function tellDevices(added: DeviceJson | null): void {
  for (const listener of deviceListeners) listener(added);
}

/** Whether this device has a right. Before the daemon said which it has, nothing is hidden: it refuses by itself. */
export function useMay(right: Right): boolean {
  return useStore(live, ({ device }) => includes(device?.rights ?? "all", right));
}
