/**
 * The way to trackers, reactions and notifications: what a daemon holds of them before it needs any. They are loaded when
 * something first happens on the board, or when a project with a tracker has a session; never while the daemon starts.
 */
import { loadOnce } from "../../base/load-once.ts";
import { isTracked, mayReact } from "../reactions/polling.ts";
import type { RawBody } from "../../contract/operations.ts";
import type { Notification, Notifiers } from "../../ports/notify.ts";
import type { ProjectSettings, ProjectTracker } from "../../ports/projects.ts";
import type { Trackers, TrackerSettings } from "../../ports/tracker.ts";
import { HoldfastError, messageOf } from "../../contract/error.ts";
import type { SessionId } from "../../contract/ids.ts";
import type { TrackerJson, DeviceJson } from "../../contract/wire.ts";
import type { Loop } from "../../supervisor/loop.ts";
import type { Notifications, PushChannel } from "../reactions/notifications.ts";
import type { Services } from "../../supervisor/services.ts";
import type { Reactor } from "../reactions/runner.ts";
import type { Heard, Tracking } from "./tracking.ts";
import { rightWords } from "../../contract/rights.ts";

/** What changes in a burst is looked at once. */
const lookAfterMs = 300;
/** For what only time brings: an agent that stays idle. */
const lookAgainMs = 60_000;
/** A first look at all, once the daemon has started and whoever started it has been answered. */
const firstLookMs = 1_500;

/** Takes a webhook's body piece by piece and keeps none. */
interface WebhookCheck {
  take(piece: Uint8Array): void;
  isSigned(): boolean;
}

export interface DoorOptions {
  trackers: () => Promise<Trackers>;
  notifiers: () => Promise<Notifiers>;
  push: PushChannel;
  /** Null where a webhook's headers alone show that it is not signed with the secret. */
  webhook: (settings: TrackerSettings, headers: RawBody["headers"], secret: string) => Promise<WebhookCheck | null>;
  heard: Heard;
}

export class TrackingDoor {
  readonly #parts: Services;
  readonly #loop: Loop;
  readonly #options: DoorOptions;
  readonly #seqs = new Map<SessionId, number>();
  readonly #openReactor = loadOnce(() => this.#makeReactor());
  readonly #openTracking = loadOnce(() => this.#makeTracking());
  #opened: { reactor?: Reactor; notifications?: Notifications; tracking?: Tracking } = {};
  #timer: NodeJS.Timeout | undefined;
  #slow: NodeJS.Timeout | undefined;
  #unfollow: (() => void) | undefined;
  #closed = false;

  constructor(parts: Services, loop: Loop, options: DoorOptions) {
    this.#parts = parts;
    this.#loop = loop;
    this.#options = options;
  }

  start(): void {
    this.#unfollow = this.#parts.store.onCommit(() => this.#soon(lookAfterMs));
    this.#slow = setInterval(() => {
      this.#seqs.clear();
      this.#soon(0);
    }, lookAgainMs);
    this.#slow.unref();
    if (this.#parts.store.sessions().length > 0) this.#soon(firstLookMs);
  }

  /** Asks now; resolves when what was said is on record and what follows from it was begun. */
  async refresh(project?: string): Promise<TrackerJson[]> {
    await this.#learn();
    const tracking = await this.open();
    await tracking.poll(true);
    return tracking.report().filter((each) => project === undefined || each.project === project);
  }

  async report(): Promise<TrackerJson[]> {
    return this.#hasTracker() ? (await this.open()).report() : [];
  }

  /** Loads what asks trackers; the adapters themselves load what they need when they are asked. */
  open(): Promise<Tracking> {
    if (this.#closed) return Promise.reject(new HoldfastError("conflict", "The daemon is stopping."));
    return this.#openTracking();
  }

  /** A tracker's notice that something changed: even when it is signed it only makes us ask sooner. */
  async webhook(project: string, body: RawBody): Promise<{ woken: true }> {
    const row = this.#parts.store.projects().find(({ id }) => id === project);
    const settings = row === undefined ? null : await this.#parts.settings.forSession(row.id).catch(() => null);
    const checks: WebhookCheck[] = [];
    for (const place of [settings?.codeHost ?? null, settings?.tracker ?? null]) {
      const secret = place?.webhookSecretEnv === undefined ? "" : (process.env[place.webhookSecretEnv ?? ""] ?? "");
      const check = place === null || secret === "" ? null : await this.#options.webhook(place, body.headers, secret);
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
    // The same whatever is wrong: a stranger learns nothing of which projects there are.
    throw new HoldfastError("unauthorized", "The webhook is not signed with the project's secret.", {
      hint: "Put a secret into a variable of the daemon, and the variable's name into tracker.webhookSecretEnv.",
    });
  }

  /** Tells people outside of the dashboard of something that concerns no session. */
  async announce(note: Notification): Promise<void> {
    if (this.#closed) return;
    try {
      await (await this.#openReactor()).notifications.announce(note);
    } catch (error) {
      this.#failed(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#slow);
    this.#unfollow?.();
    this.#opened.reactor?.close();
    this.#opened.notifications?.close();
    await this.#opened.tracking?.close();
  }

  #soon(ms: number): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look().catch((error: unknown) => this.#failed(error));
    }, ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const sessions = this.#parts.store.sessions();
    const changed = sessions.filter((session) => this.#seqs.get(session.id) !== session.seq && mayReact(session));
    for (const { id, seq } of changed) this.#seqs.set(id, seq);
    if (!this.#closed && this.#hasTracker() && sessions.some(isTracked)) (await this.open()).schedule();
    if (changed.length === 0 || this.#closed) return;
    const { reactor, notifications } = await this.#openReactor();
    await reactor.consider(changed.map(({ id }) => id));
    // What a daemon before this one did not come to tell.
    for (const { id, untold } of changed) if ((untold ?? []).length > 0) void notifications.tell(id);
  }

  #hasTracker(): boolean {
    return this.#parts.store.projects().some(({ id }) => {
      const settings = this.#parts.settings.last(id) as Partial<ProjectSettings> | null;
      return (settings?.tracker ?? settings?.codeHost ?? null) !== null;
    });
  }

  /** What a project's file says is remembered once it was read; a refresh insists on the files as they are. */
  async #learn(): Promise<void> {
    await Promise.all(
      this.#parts.store.projects().map(({ id }) => this.#parts.settings.forSession(id).catch(() => null)),
    );
  }

  async #makeReactor(): Promise<{ reactor: Reactor; notifications: Notifications }> {
    const [{ Reactor: Made }, { Notifications: Notes }] = await Promise.all([
      import("../reactions/runner.ts"),
      import("../reactions/notifications.ts"),
    ]);
    const notifications = new Notes(this.#parts, this.#options.notifiers, this.#options.push);
    const reactor = new Made(this.#parts, this.#loop, notifications);
    this.#opened = { ...this.#opened, reactor, notifications };
    return { reactor, notifications };
  }

  async #makeTracking(): Promise<Tracking> {
    const [{ Tracking: Made }, { reactor }] = await Promise.all([import("./tracking.ts"), this.#openReactor()]);
    const { store, settings, workspaces, clock, log } = this.#parts;
    const trackers = await this.#options.trackers();
    const parts = { store, settings, workspaces, clock, log, trackers, heard: this.#options.heard };
    const tracking = new Made(parts, (ids) => reactor.consider(ids));
    reactor.tracking = tracking;
    this.#opened = { ...this.#opened, tracking };
    if (this.#closed) await tracking.close();
    return tracking;
  }

  #failed(error: unknown): void {
    if (!this.#closed) this.#parts.log.warn("reacting to what happened failed", { error: messageOf(error) });
  }
}

/** Where pull requests of a project are, or why nothing can be asked. */
export function requireCodeHost(settings: ProjectSettings): ProjectTracker {
  if (settings.codeHost !== null) return settings.codeHost;
  if (settings.tracker !== null) {
    throw new HoldfastError(
      "conflict",
      `${settings.tracker.type} has no pull requests, and ${settings.id} no other host.`,
      {
        hint: "The host is told by the address of the remote origin: github.com, gitlab.com, or one of your own by such a name.",
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
    text: `${name} logged in${from} and ${rightWords[rights]}. If that was not you, revoke it: holdfast device revoke ${id}`,
    session: "",
    project: "",
    why: "device",
    at: now,
  };
}
