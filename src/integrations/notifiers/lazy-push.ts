/** Loads push on first use: a daemon without subscribed browsers loads none of it. */
import { existsSync } from "node:fs";
import { lazy } from "../../base/lazy.ts";
import type { Notification, Push } from "../../ports/notify.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { PushChannel } from "../reactions/notifications.ts";

export class LazyPush implements PushChannel {
  readonly #file: string;
  readonly #load: () => Promise<Push>;
  #push: Push | null = null;
  #closed = false;

  /** @param file exists once a browser has requested the key. */
  constructor(file: string, load: () => Promise<Push>) {
    this.#file = file;
    this.#load = lazy(async () => (this.#push = await load()));
  }

  isUsed(): boolean {
    return this.#push !== null || existsSync(this.#file);
  }

  async hasSubscribers(): Promise<boolean> {
    return this.isUsed() && (await this.open()).browsers().length > 0;
  }

  send = async (notification: Notification): Promise<void> => (await this.open()).send(notification);

  async removeOf(devices: readonly string[] | null): Promise<void> {
    if (this.isUsed()) (await this.open()).removeOf(devices);
  }

  open(): Promise<Push> {
    if (this.#closed) return Promise.reject(new HoldfastError("conflict", "The daemon is stopping."));
    return this.#load();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#push?.close();
  }
}
