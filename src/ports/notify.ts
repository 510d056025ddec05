/** Notifications outside the dashboard. */

/** `notify` of the user's config.yaml, by channel. Only the channel itself reads its setting (integrations/notifiers). */
export type NotifySettings = Readonly<Record<string, unknown>>;

export interface Notification {
  /** The same if it is sent again after a crash. */
  id: string;
  title: string;
  text: string;
  /** Empty, like the project, if it concerns none. */
  session: string;
  project: string;
  why: string;
  at: number;
}

/** Resolves once delivered; rejects with the reason. Each channel has its own deadline. */
export type Channel = (notification: Notification) => Promise<void>;

/** A browser that receives pushes even when no tab is open. Its endpoint is never disclosed. */
export interface PushBrowser {
  id: string;
  label: string;
  /** Host of its push service. */
  service: string;
  createdAt: number;
  lastOkAt: number | null;
  failure: { why: string; at: number } | null;
  /** The device that subscribed; null for subscriptions made by an earlier version. */
  device: string | null;
}

export interface PushSubscriptionGiven {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  label: string;
  origin?: string | undefined;
  /** Missing or null if no device made the request. */
  device?: string | null;
}

export interface Push {
  /** The key that browsers subscribe with; created at the first call. */
  publicKey(): string;
  browsers(): PushBrowser[];
  /** Subscriptions that their push service reported gone since this daemon started. */
  ended(): { label: string; at: number }[];
  /** Throws a HoldfastError that explains what is wrong with it. */
  subscribe(given: PushSubscriptionGiven): PushBrowser;
  remove(id: string): boolean;
  /** Removes the subscriptions of these devices; null removes all. */
  removeOf(devices: readonly string[] | null): void;
  send: Channel;
  /** Null if the push service accepted it, otherwise why not. */
  test(id: string): Promise<string | null>;
  close(): void;
}
