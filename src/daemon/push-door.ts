/** The way to pushes: what a daemon holds of them before a browser subscribed. Nothing is loaded while it starts. */
import { existsSync } from "node:fs";
import type { Notification, Push, PushBrowser, PushSubscriptionGiven } from "../ports/notify.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { Answers, FindingJson, PushBrowserJson, PushJson } from "../protocol/wire.ts";
import type { PushChannel } from "./notifications.ts";
import { iso } from "./view.ts";

export class PushDoor implements PushChannel {
  readonly #file: string;
  readonly #load: () => Promise<Push>;
  #push: Promise<Push> | null = null;
  #closed = false;

  /** `file` is there once somebody has asked for the key. */
  constructor(file: string, load: () => Promise<Push>) {
    this.#file = file;
    this.#load = load;
  }

  async isWanted(): Promise<boolean> {
    return ((await this.#known())?.browsers().length ?? 0) > 0;
  }

  tell = async (notification: Notification): Promise<void> => (await this.#open()).tell(notification);

  async list(): Promise<PushJson> {
    const push = await this.#open();
    return { publicKey: push.publicKey(), browsers: push.browsers().map(browserJson) };
  }

  async subscribe(given: PushSubscriptionGiven): Promise<PushBrowserJson> {
    return browserJson((await this.#open()).subscribe(given));
  }

  async remove(id: string): Promise<PushBrowserJson> {
    const push = await this.#open();
    const found = push.browsers().find((one) => one.id === id);
    if (found === undefined || !push.remove(id)) {
      throw new HoldfastError("not-found", `No browser ${id} is subscribed.`, { hint: "The settings list them." });
    }
    return browserJson(found);
  }

  async removeAll(): Promise<void> {
    (await this.#known())?.removeAll();
  }

  async test(id: string): Promise<Answers["pushTest"]> {
    const why = await (await this.#open()).test(id);
    return { sent: why === null, why };
  }

  /** What `doctor` says of it: nothing where nobody subscribed. */
  async findings(): Promise<FindingJson[]> {
    const push = await this.#known();
    return push === null ? [] : findingsOf(push.browsers(), push.ended());
  }

  async close(): Promise<void> {
    this.#closed = true;
    (await this.#push?.catch(() => null))?.close();
  }

  async #known(): Promise<Push | null> {
    return this.#push !== null || existsSync(this.#file) ? this.#open() : null;
  }

  #open(): Promise<Push> {
    if (this.#closed) return Promise.reject(new HoldfastError("conflict", "The daemon is stopping."));
    this.#push ??= this.#load();
    return this.#push;
  }
}

export function findingsOf(browsers: readonly PushBrowser[], ended: readonly { label: string; at: number }[]) {
  const check = "push";
  const failing = browsers.flatMap(({ label, service, failure }) =>
    failure === null ? [] : [{ label, service, failure }],
  );
  const findings: FindingJson[] = failing.map(({ label, service, failure }) => ({
    check,
    level: "warn",
    message: `The last push to ${label} by ${service} failed at ${iso(failure.at)}: ${failure.why}. Nothing else is touched by it.`,
    fix: "Where this stays so, turn push off and on again in that browser's settings.",
    fixable: false,
  }));
  for (const { label, at } of ended) {
    const message = `${label} is no longer subscribed to push: its push service said so at ${iso(at)}.`;
    findings.push({ check, level: "info", message, fix: "Turn it on again in that browser.", fixable: false });
  }
  if (browsers.length > 0 && failing.length === 0) {
    const count = browsers.length === 1 ? "One browser is" : `${browsers.length} browsers are`;
    findings.unshift({ check, level: "ok", message: `${count} subscribed to push.`, fix: null, fixable: false });
  }
  return findings;
}

function browserJson({ id, label, service, createdAt, lastOkAt, failure }: PushBrowser): PushBrowserJson {
  return {
    id,
    label,
    service,
    createdAt: iso(createdAt),
    lastOk: lastOkAt === null ? null : iso(lastOkAt),
    failure: failure === null ? null : { why: failure.why, at: iso(failure.at) },
  };
}
