/**
 * Loads trackers, reactions and notifications on first use: when something happens on the board, or when a project with
 * a tracker has a session; never while the daemon starts. It alone triggers reactions, after commits and after polls.
 */
import { lazy } from "../../base/lazy.ts";
import { isTracked, mayReact } from "../reactions/polling.ts";
import type { RawBody } from "../../contract/operations.ts";
import type { Notification } from "../../ports/notify.ts";
import type { ProjectSettings, ProjectTracker } from "../../ports/projects.ts";
import type { Trackers } from "../../ports/tracker.ts";
import { HoldfastError, messageOf } from "../../contract/errors.ts";
import type { SessionId } from "../../contract/ids.ts";
import type { DeviceJson } from "../../contract/device.ts";
import type { TrackerJson } from "../../contract/tracker.ts";
import type { Loop } from "../../supervisor/loop.ts";
import type { PushChannel } from "../reactions/notifications.ts";
import type { Services } from "../../supervisor/services.ts";
import type { WebhookCheck } from "./registry.ts";
import type { PollTimes, Tracking } from "./tracking.ts";
import { rightText } from "../../contract/rights.ts";

/** A burst of changes is checked once. */
const checkAfterMs = 300;
/** For conditions that only time brings, such as an agent that stays idle. */
const recheckMs = 60_000;
/** The first check waits until the daemon's start has been reported. */
const firstCheckMs = 1_500;

export interface LazyTrackingOptions {
  trackers: () => Promise<Trackers>;
  push: PushChannel;
  polled: PollTimes;
}

export class LazyTracking {
  readonly #services: Services;
  readonly #loop: Loop;
  readonly #options: LazyTrackingOptions;
  readonly #seqs = new Map<SessionId, number>();
  readonly #reacting = lazy(async () => {
    const [{ Reactor }, { Notifications }] = await Promise.all([
      import("../reactions/runner.ts"),
      import("../reactions/notifications.ts"),
    ]);
    const notifications = new Notifications(this.#services, this.#options.push);
    const reactor = new Reactor(this.#services, this.#loop, notifications, () => this.#tracking);
    this.#closers.push(
      () => reactor.close(),
      () => notifications.close(),
    );
    return { reactor, notifications };
  });
  readonly #openTracking = lazy(async () => {
    const { Tracking } = await import("./tracking.ts");
    const { trackers, polled } = this.#options;
    const services = { ...this.#services, trackers: await trackers(), polled };
    const tracking = new Tracking(services, (ids) => this.#react(ids));
    this.#tracking = tracking;
    this.#closers.push(() => tracking.close());
    if (this.#closed) await tracking.close();
    return tracking;
  });
  readonly #closers: (() => void | Promise<void>)[] = [];
  #tracking: Tracking | null = null;
  #timer: NodeJS.Timeout | undefined;
  #slow: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #closed = false;

  constructor(services: Services, loop: Loop, options: LazyTrackingOptions) {
    this.#services = services;
    this.#loop = loop;
    this.#options = options;
  }

  start(): void {
    this.#unfollow = this.#services.store.onCommit(() => this.#soon(checkAfterMs));
    this.#slow = setInterval(() => {
      this.#seqs.clear();
      this.#soon(0);
    }, recheckMs);
    this.#slow.unref();
    if (this.#services.store.sessions().length > 0) this.#soon(firstCheckMs);
  }

  /** Polls now; resolves once the results are recorded and reactions to them have started. */
  async refresh(project?: string): Promise<TrackerJson[]> {
    const { store, settings } = this.#services;
    // Settings are cached once read; a refresh reads the files again.
    await Promise.all(store.projects().map(({ id }) => settings.forSession(id).catch(() => null)));
    const tracking = await this.open();
    await tracking.poll(true);
    return tracking.report().filter((each) => project === undefined || each.project === project);
  }

  async report(): Promise<TrackerJson[]> {
    return this.#hasTracker() ? (await this.open()).report() : [];
  }

  open(): Promise<Tracking> {
    if (this.#closed) return Promise.reject(new HoldfastError("conflict", "The daemon is stopping."));
    return this.#openTracking();
  }

  /** A tracker's notice that something changed: even a signed one only makes the daemon poll sooner. */
  async webhook(project: string, body: RawBody): Promise<{ woken: true }> {
    const row = this.#services.store.projects().find(({ id }) => id === project);
    const settings = row === undefined ? null : await this.#services.settings.forSession(row.id).catch(() => null);
    const checks: WebhookCheck[] = [];
    for (const tracker of [settings?.codeHost ?? null, settings?.tracker ?? null]) {
      const secret = process.env[tracker?.webhookSecretEnv ?? ""] ?? "";
      if (tracker === null || secret === "") continue;
      const check = (await import("./registry.ts")).openWebhook(tracker, body.headers, secret);
      if (check !== null) checks.push(check);
    }
    if (checks.length > 0) {
      await body.read((piece) => {
        for (const check of checks) check.take(piece);
      });
      if (checks.some((check) => check.isSigned())) {
        (await this.open()).schedule(true);
        return { woken: true };
      }
    }
    // The same error in every case, so that strangers cannot probe for projects.
    throw new HoldfastError("unauthorized", "The webhook is not signed with the project's secret.", {
      hint: "Set an environment variable for the daemon and name it in tracker.webhookSecretEnv.",
    });
  }

  /** Sends a notification that concerns no session. */
  async announce(note: Notification): Promise<void> {
    if (this.#closed) return;
    try {
      await (await this.#reacting()).notifications.announce(note);
    } catch (error) {
      this.#failed(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#slow);
    this.#unfollow?.();
    for (const close of this.#closers) await close();
  }

  #soon(ms: number): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#check().catch((error: unknown) => this.#failed(error));
    }, ms);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const sessions = this.#services.store.sessions();
    const changed = sessions.filter((session) => this.#seqs.get(session.id) !== session.seq && mayReact(session));
    for (const { id, seq } of changed) this.#seqs.set(id, seq);
    if (!this.#closed && this.#hasTracker() && sessions.some(isTracked)) (await this.open()).schedule();
    if (changed.length === 0 || this.#closed) return;
    await this.#react(changed.map(({ id }) => id));
    const { notifications } = await this.#reacting();
    // Left behind by a previous daemon.
    for (const { id, untold } of changed) if ((untold ?? []).length > 0) void notifications.sendPending(id);
  }

  async #react(ids: readonly SessionId[]): Promise<void> {
    await (await this.#reacting()).reactor.consider(ids);
  }

  #hasTracker(): boolean {
    return this.#services.store.projects().some(({ id }) => {
      const settings = this.#services.settings.last(id) as Partial<ProjectSettings> | null;
      return (settings?.tracker ?? settings?.codeHost ?? null) !== null;
    });
  }

  #failed(error: unknown): void {
    if (!this.#closed) this.#services.log.warn("reactions failed", { error: messageOf(error) });
  }
}

/** Where the project's pull requests are. Throws a HoldfastError if nowhere. */
export function requireCodeHost(settings: ProjectSettings): ProjectTracker {
  if (settings.codeHost !== null) return settings.codeHost;
  if (settings.tracker !== null) {
    throw new HoldfastError(
      "conflict",
      `${settings.tracker.type} has no pull requests, and ${settings.id} has no other code host.`,
      {
        hint: "The host is detected from the origin remote: github.com, gitlab.com, or a self-hosted instance with such a name.",
      },
    );
  }
  throw new HoldfastError("conflict", `${settings.id} has no tracker.`, {
    hint: `Set projects.${settings.id}.tracker in its holdfast.yaml, for example {type: github, repo: owner/name}.`,
  });
}

export function newDeviceNote({ id, name, rights, lastAddress }: DeviceJson, now: number): Notification {
  const from = lastAddress === null ? "" : ` from ${lastAddress}`;
  return {
    id: `device-${id}-${now}`,
    title: "New device logged in",
    text: `${name} logged in${from} and ${rightText[rights]}. If that was not you, revoke it: holdfast device revoke ${id}`,
    session: "",
    project: "",
    why: "device",
    at: now,
  };
}
