/** Who is told outside of the dashboard. */

export interface NotifySettings {
  desktop?: boolean | undefined;
  webhook?: string | undefined;
  slack?: string | undefined;
}

export interface Notification {
  /** The same when it is told again after a crash. */
  id: string;
  title: string;
  text: string;
  session: string;
  project: string;
  why: string;
  at: number;
}

/** Resolves when it was told; rejects with the reason. Each has a deadline of its own. */
export type Channel = (notification: Notification) => Promise<void>;

export interface Notifiers {
  /** The channels that these settings name, by name. */
  channels(settings: NotifySettings): ReadonlyMap<string, Channel>;
}
