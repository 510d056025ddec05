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

export interface Live {
  login: Login;
  /** Whether the event stream is open. */
  connected: boolean;
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
  connected: false,
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

export function onReconnect(listener: () => void): () => void {
  return live.subscribe(({ connected }, before) => {
    if (connected && !before.connected) listener();
  });
}

function createEmitter<T>() {
  const listeners = new Set<(value: T) => void>();
  return {
    on: (listener: (value: T) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit: (value: T): void => {
      for (const listener of listeners) listener(value);
    },
  };
}

export type SessionEventJson = EventJson & { session: string };
const events = createEmitter<readonly SessionEventJson[]>();
export const emitEvents = events.emit;

/**
 * Calls back with each batch of a session's new events (`*`: of all sessions). After a lost connection the events in
 * between follow, or the session's `seq` in the store shows that some are missing.
 */
export function onEvents(session: string, listener: (events: readonly SessionEventJson[]) => void): () => void {
  return events.on((all) => {
    const batch = session === "*" ? all : all.filter((event) => event.session === session);
    if (batch.length > 0) listener(batch);
  });
}

/** A session as it was and as it is; `before` is undefined for a new one. */
export interface SessionChange {
  before: SessionJson | undefined;
  after: SessionJson;
}
/** Calls back with the changes of the stream. A snapshot is not a change: it does not show when it happened. */
export const { on: onChanges, emit: emitChanges } = createEmitter<readonly SessionChange[]>();

/** Calls back when the list of devices changed, with the new device if there is one. */
export const { on: onDevices, emit: emitDevices } = createEmitter<DeviceJson | null>();

/** Whether this device has a right. True until the daemon reports its rights: the daemon refuses on its own. */
export function useMay(right: Right): boolean {
  return useStore(live, ({ device }) => includes(device?.rights ?? "all", right));
}
