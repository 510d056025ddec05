/**
 * Web push to subscribed browsers. The home's key and the subscriptions are in one file, readable by the user alone: an
 * endpoint is the right to message that browser. A push service that is down or rate-limited delays no other browser,
 * and an expired subscription is removed.
 */
import { createHmac, hash } from "node:crypto";
import type { Logger } from "../../ports/api.ts";
import type { Notification, Push, PushBrowser, PushSubscriptionGiven } from "../../ports/notify.ts";
import { HoldfastError, messageOf } from "../../contract/errors.ts";
import { refuseAddress, lifeSeconds, sendPush, type Outcome, Backoff } from "./web-push-send.ts";
import {
  encryptFor,
  authorization,
  publicKeyOf,
  subjectFor,
  type VapidKey,
  isVapidKey,
  makeVapidKey,
} from "./web-push-crypto.ts";
import { chmodSync, statSync } from "node:fs";
import { readJson, writeDurable } from "../../base/durable-file.ts";

const maxTextLength = 300;
const maxTitleLength = 120;

export interface Message {
  /** A push service keeps only the newest pending message of a topic. */
  topic: string;
  at: number;
  text: Buffer;
}

function messageFor({ title, text, session, at }: Notification, key: VapidKey): Message {
  const about = session === "" ? {} : { session };
  const payload = {
    title: oneLine(title, maxTitleLength),
    text: text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`,
    ...about,
  };
  return { topic: topicOf(session, key), at, text: Buffer.from(JSON.stringify(payload)) };
}

/** Shown even while the page is visible, which suppresses other pushes. */
function testMessage(key: VapidKey, at: number): Message {
  const payload = { title: "Holdfast", text: "Push works in this browser.", test: true };
  return { topic: topicOf("test", key), at, text: Buffer.from(JSON.stringify(payload)) };
}

/** External text is shown as one line. */
function oneLine(text: string, most: number): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, most);
}

/** Stable per session, and meaningless to the push service. */
function topicOf(name: string, { d }: VapidKey): string {
  return createHmac("sha256", d).update(name).digest("base64url").slice(0, 32);
}

/** More browsers than one user has; expired subscriptions are removed automatically. */
export const maxBrowsers = 20;
const maxLabelLength = 80;
/** Notifications that reached some browsers but not others yet: a few seconds' worth. */
const maxPartial = 50;

export interface WebPushOptions {
  file: string;
  now: () => number;
  log: Logger;
  /** This text never appears in the log. */
  hide: (secret: string) => void;
  /** Allows a push service on this machine: for tests. */
  loopback: boolean;
}

interface Facts {
  backoff: Backoff;
  lastOkAt: number | null;
  failure: { why: string; at: number } | null;
}

export class WebPush implements Push {
  readonly #options: WebPushOptions;
  readonly #facts = new Map<string, Facts>();
  readonly #ended: { label: string; at: number }[] = [];
  /** Browsers that already got a notification, by its id. */
  readonly #reached = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  #file: PushFile | null;

  constructor(options: WebPushOptions) {
    this.#options = options;
    const read = readPushFile(options.file);
    if (read !== null && "damaged" in read) {
      options.log.warn("push subscriptions are damaged; browsers must subscribe again", {
        why: read.damaged,
      });
      this.#file = null;
    } else this.#file = read;
    for (const { endpoint } of this.#subscriptions()) options.hide(endpoint);
  }

  publicKey(): string {
    if (this.#file === null) this.#save({ key: makeVapidKey(), subscriptions: [] });
    return publicKeyOf(this.#file!.key);
  }

  browsers(): PushBrowser[] {
    return this.#subscriptions().map((one) => this.#browser(one));
  }

  ended(): { label: string; at: number }[] {
    return this.#ended;
  }

  subscribe({ endpoint, keys, label, origin, device = null }: PushSubscriptionGiven): PushBrowser {
    const { now, loopback, hide, log } = this.#options;
    const wrong = refuseAddress(endpoint, loopback) ?? refuseKeys(keys);
    if (wrong !== null) throw new HoldfastError("invalid", `This subscription cannot be used. ${wrong}`);
    hide(endpoint);
    const id = idOf(endpoint);
    this.publicKey();
    const { key } = this.#file!;
    const others = this.#subscriptions().filter((one) => one.id !== id);
    if (others.length >= maxBrowsers) {
      throw new HoldfastError("conflict", `${maxBrowsers} browsers are already subscribed.`, {
        hint: "Remove one of them in the settings.",
      });
    }
    const shown = oneLine(label, maxLabelLength);
    const made: Subscription = { id, label: shown, endpoint, keys, origin, createdAt: now(), device };
    this.#save({ key, subscriptions: [...others, made] });
    this.#forget(id);
    log.info("browser subscribed to push", { browser: id, service: serviceOf(made) });
    return this.#browser(made);
  }

  remove(id: string): boolean {
    return this.#removeIf((one) => one.id === id);
  }

  removeOf(devices: readonly string[] | null): void {
    this.#removeIf(({ device }) => devices === null || devices.includes(device ?? ""));
  }

  #removeIf(isGone: (one: Subscription) => boolean): boolean {
    const gone = this.#subscriptions().filter(isGone);
    if (this.#file === null || gone.length === 0) return false;
    this.#save({ key: this.#file.key, subscriptions: this.#subscriptions().filter((one) => !gone.includes(one)) });
    for (const { id } of gone) this.#forget(id);
    return true;
  }

  /** Rejects with the browsers that were not reached, and why; a second attempt goes to these alone. */
  send = async (note: Notification): Promise<void> => {
    const all = this.#subscriptions();
    if (all.length === 0) throw new Error("no browser is subscribed");
    const reached = this.#reached.get(note.id) ?? new Set<string>();
    const message = messageFor(note, this.#file!.key);
    const results = await Promise.all(
      all.map(async (one) => {
        if (reached.has(one.id)) return null;
        const why = await this.#push(one, message);
        if (why === null) reached.add(one.id);
        return why === null ? null : `${one.label}: ${why}`;
      }),
    );
    this.#reached.delete(note.id);
    const failed = results.filter((why) => why !== null);
    if (failed.length === 0) return;
    this.#reached.set(note.id, reached);
    const [oldest] = this.#reached.keys();
    if (this.#reached.size > maxPartial && oldest !== undefined) this.#reached.delete(oldest);
    throw new Error(failed.join("; "));
  };

  async test(id: string): Promise<string | null> {
    const one = this.#subscriptions().find((each) => each.id === id);
    if (one === undefined) return "not subscribed";
    const facts = this.#factsOf(id);
    if (facts.backoff.until > this.#options.now()) return backingOff(facts);
    const outcome = await this.#send(one, testMessage(this.#file!.key, this.#options.now()));
    return outcome.is === "sent" ? null : outcome.is === "gone" ? "the subscription has ended" : outcome.why;
  }

  close(): void {
    this.#stop.abort();
    for (const { backoff } of this.#facts.values()) backoff.close();
  }

  /** Null if delivered; otherwise the reason, and another attempt follows if that can help. */
  async #push(one: Subscription, message: Message): Promise<string | null> {
    const facts = this.#factsOf(one.id);
    if (facts.backoff.until > this.#options.now()) {
      this.#later(one, facts, message);
      return backingOff(facts);
    }
    const outcome = await this.#send(one, message);
    if (outcome.is === "sent" || outcome.is === "gone") return null;
    if (outcome.is === "later") this.#later(one, facts, message);
    return outcome.why;
  }

  #later(one: Subscription, facts: Facts, message: Message): void {
    if (this.#stop.signal.aborted) return;
    facts.backoff.hold(message);
    facts.backoff.wake(this.#options.now(), () => void this.#again(one, facts));
  }

  async #again(one: Subscription, facts: Facts): Promise<void> {
    const isSubscribed = (): boolean => this.#facts.get(one.id) === facts && !this.#stop.signal.aborted;
    for (const message of facts.backoff.take(this.#options.now() - lifeSeconds * 1000)) {
      if (isSubscribed()) await this.#push(one, message);
    }
  }

  async #send(one: Subscription, { topic, text }: Message): Promise<Outcome> {
    const { now, loopback } = this.#options;
    const { endpoint } = one;
    const outcome = await sendPush(
      {
        endpoint,
        authorization: authorization(this.#file!.key, { endpoint, subject: subjectFor(one.origin) }, now()),
        body: encryptFor(one.keys, text),
        topic,
      },
      loopback,
      this.#stop.signal,
    );
    if (!this.#stop.signal.aborted) this.#note(one, outcome);
    return outcome;
  }

  #note(one: Subscription, outcome: Outcome): void {
    const { now, log } = this.#options;
    const facts = this.#factsOf(one.id);
    if (outcome.is === "sent") {
      facts.backoff.end();
      facts.lastOkAt = now();
      facts.failure = null;
    } else if (outcome.is === "gone") {
      log.info("browser no longer subscribed", { browser: one.id, service: serviceOf(one) });
      this.#ended.push({ label: one.label, at: now() });
      this.#ended.splice(0, this.#ended.length - maxBrowsers);
      try {
        this.remove(one.id);
      } catch (error) {
        // If the disk is full it stays in the file, and the next push removes it.
        log.warn("removing an expired push subscription failed", { why: messageOf(error) });
      }
    } else {
      if (outcome.is === "later") facts.backoff.begin(now(), outcome.ms);
      if (facts.failure === null)
        log.warn("push failed", { browser: one.id, service: serviceOf(one), why: outcome.why });
      facts.failure = { why: outcome.why, at: now() };
    }
  }

  #save(file: PushFile): void {
    try {
      writeDurable(this.#options.file, `${JSON.stringify(file)}\n`);
    } catch (cause) {
      throw new HoldfastError("storage", "Could not save the push subscriptions.", {
        hint: "The disk may be full. Check with: holdfast doctor",
        cause,
      });
    }
    this.#file = file;
  }

  #subscriptions(): readonly Subscription[] {
    return this.#file?.subscriptions ?? [];
  }

  #factsOf(id: string): Facts {
    const known = this.#facts.get(id) ?? { backoff: new Backoff(), lastOkAt: null, failure: null };
    this.#facts.set(id, known);
    return known;
  }

  #forget(id: string): void {
    this.#facts.get(id)?.backoff.close();
    this.#facts.delete(id);
  }

  #browser(one: Subscription): PushBrowser {
    const { lastOkAt = null, failure = null } = this.#facts.get(one.id) ?? {};
    const { id, label, createdAt, device = null } = one;
    return { id, label, service: serviceOf(one), createdAt, lastOkAt, failure, device };
  }
}

function backingOff({ backoff, failure }: Facts): string {
  const why = failure?.why ?? "rate-limited by the push service";
  return `${why}; retrying after ${new Date(backoff.until).toISOString()}`;
}

/** The page recognizes its own subscription by this id, which does not reveal the endpoint. */
function idOf(endpoint: string): string {
  return hash("sha256", endpoint, "base64url").slice(0, 16);
}

function serviceOf({ endpoint }: Subscription): string {
  return URL.parse(endpoint)?.hostname ?? "";
}

function refuseKeys(keys: { p256dh: string; auth: string }): string | null {
  try {
    encryptFor(keys, Buffer.alloc(0));
    return null;
  } catch {
    return "Its keys are invalid.";
  }
}

interface Subscription {
  /** Identifies the browser without revealing its endpoint. */
  id: string;
  label: string;
  endpoint: string;
  keys: { p256dh: string; auth: string };
  /** Origin of the dashboard when it subscribed. */
  origin?: string | undefined;
  createdAt: number;
  /** Missing in files of an earlier version. */
  device?: string | null;
}

interface PushFile {
  key: VapidKey;
  subscriptions: Subscription[];
}

/** Null if there is no file. A damaged one loses its subscriptions; browsers can subscribe again. */
function readPushFile(path: string): PushFile | null | { damaged: string } {
  const read = readJson(path);
  if (read.is === "absent") return null;
  if (read.is === "damaged") return { damaged: read.why };
  const { key, subscriptions } = (read.value ?? {}) as Partial<PushFile>;
  if (!isVapidKey(key)) return { damaged: "it contains no key" };
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  return { key, subscriptions: Array.isArray(subscriptions) ? subscriptions.filter(isSubscription) : [] };
}

function isSubscription(value: unknown): value is Subscription {
  const { id, label, endpoint, keys, createdAt } = (value ?? {}) as Partial<Subscription>;
  const texts = [id, label, endpoint, keys?.p256dh, keys?.auth];
  return texts.every((text) => typeof text === "string") && typeof createdAt === "number";
}
