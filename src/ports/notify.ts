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
  /** Empty, like the project, where it concerns none. */
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

/** A browser that is called also while no tab is open. Where it is reached is said to nobody. */
export interface PushBrowser {
  id: string;
  label: string;
  /** Host of its push service. */
  service: string;
  createdAt: number;
  lastOkAt: number | null;
  failure: { why: string; at: number } | null;
  /** The device that subscribed; null for a subscription of an earlier version. */
  device: string | null;
}

export interface PushSubscriptionGiven {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  label: string;
  origin?: string | undefined;
  /** Left out or null for what no device asked for. */
  device?: string | null;
}

export interface Push {
  /** What a browser subscribes for; made at the first question. */
  publicKey(): string;
  browsers(): PushBrowser[];
  /** Those whose push service said that they are gone, since this daemon started. */
  ended(): { label: string; at: number }[];
  /** Throws a HoldfastError that says what is wrong with it. */
  subscribe(given: PushSubscriptionGiven): PushBrowser;
  remove(id: string): boolean;
  /** Those of these devices, or all. */
  removeOf(devices: readonly string[] | null): void;
  tell: Channel;
  /** Null when its push service took it, else why not. */
  test(id: string): Promise<string | null>;
  close(): void;
}
