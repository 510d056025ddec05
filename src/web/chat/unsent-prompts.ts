/**
 * Prompts being sent: shown immediately under an id created here, until the daemon's log has them. The id makes a retry
 * safe: after a lost connection each is sent again, and the daemon accepts it once. One at a time: two requests could
 * overtake each other.
 */
import { useEffect, useState } from "react";
import { createStore, useStore, type StoreApi } from "zustand";
import { HoldfastError } from "../../contract/errors.ts";
import type { Attachment } from "../../contract/event.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onReconnect } from "../shared/data/live.ts";
import { unsentKey } from "../shared/data/session-cache.ts";
import { readJson, store } from "../shared/data/storage.ts";
import type { NewImage } from "./images.tsx";
import type { FeedState } from "./transcript-feed.ts";

export interface UnsentPrompt {
  promptId: string;
  text: string;
  images: NewImage[];
  state: "sending" | "waiting" | "refused";
  reason: string | null;
}

/** While the daemon is starting. */
const retryMs = 2_000;

/** The session's unsent prompts, without those that the transcript or the queue has. */
export function useUnsentPrompts(id: string, { items, head }: FeedState) {
  const [prompts] = useState(() => new UnsentPrompts(id));
  const unsent = useStore(prompts.store);
  useEffect(() => prompts.open(), [prompts]);
  useEffect(() => {
    if (unsent.length === 0) return;
    const known = new Set(head.queue.map(({ promptId }) => promptId as string));
    // Recent items suffice: prompts do not arrive late.
    for (const item of items.slice(-200)) if (item.item === "prompt") known.add(item.promptId);
    prompts.settle((promptId) => known.has(promptId));
  }, [prompts, unsent, head.queue, items]);
  return { prompts, unsent };
}

class UnsentPrompts {
  readonly #session: string;
  readonly store: StoreApi<readonly UnsentPrompt[]>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Prompts without a response from the daemon, in the order they were written. */
  #unanswered: readonly string[];
  /** The current request. */
  #posting: AbortController | null = null;

  constructor(session: string) {
    this.#session = session;
    this.store = createStore<readonly UnsentPrompt[]>(() => load(session));
    this.#unanswered = this.#entries.filter(({ state }) => state === "waiting").map(({ promptId }) => promptId);
  }

  get #entries(): readonly UnsentPrompt[] {
    return this.store.getState();
  }

  /** Sends prompts left over from an earlier page, and retries after each reconnect. */
  open(): () => void {
    this.#retry();
    const end = onReconnect(() => {
      // A request on the old connection may hang for minutes.
      this.#posting?.abort();
      this.#retry();
    });
    return () => {
      end();
      clearTimeout(this.#timer);
    };
  }

  send(text: string, images: NewImage[]): void {
    const entry: UnsentPrompt = { promptId: crypto.randomUUID(), text, images, state: "sending", reason: null };
    this.#set([...this.#entries, entry]);
    this.#unanswered = [...this.#unanswered, entry.promptId];
    void this.#postAll();
  }

  remove(promptId: string): void {
    this.settle((known) => known === promptId);
  }

  /** Drops the prompts that the log has: they are shown from there. */
  settle(known: (promptId: string) => boolean): void {
    const left = this.#entries.filter(({ promptId }) => !known(promptId));
    if (left.length < this.#entries.length) this.#set(left);
  }

  async #postAll(): Promise<void> {
    if (this.#posting !== null) return;
    for (;;) {
      const [next] = this.#unanswered;
      if (next === undefined) break;
      const entry = this.#entries.find(({ promptId }) => promptId === next);
      this.#posting = new AbortController();
      // A prompt that was taken back, or that the log has already, needs no response.
      // oxlint-disable-next-line no-await-in-loop -- in the order they were written
      const result = entry === undefined ? "settled" : await this.#post(entry, this.#posting.signal);
      if (result === "later") break;
      if (result === "settled") this.#unanswered = this.#unanswered.filter((promptId) => promptId !== next);
    }
    this.#posting = null;
  }

  /** `later`: retried later, and the prompts behind it wait. `now`: lost with the old connection, retried immediately. */
  async #post(entry: UnsentPrompt, signal: AbortSignal): Promise<"settled" | "later" | "now"> {
    const { promptId, text, images } = entry;
    const attachments = images.map(({ name, mimeType, data }) => ({ type: "image" as const, name, mimeType, data }));
    try {
      const body = { promptId, text, waitMs: 0, ...(attachments.length === 0 ? {} : { attachments }) };
      const receipt = await call("prompt", { params: { id: this.#session }, body, signal });
      if (receipt.disposition === "refused") this.#mark(promptId, "refused", receipt.reason);
      return "settled";
    } catch (error) {
      if (signal.aborted) return "now";
      const isTemporary = error instanceof HoldfastError && (error.code === "unreachable" || error.code === "starting");
      if (!isTemporary) {
        this.#mark(promptId, "refused", sentenceOf(error));
        return "settled";
      }
      for (const one of this.#unanswered) this.#mark(one, "waiting", sentenceOf(error));
      this.#timer ??= setTimeout(() => this.#retry(), retryMs);
      return "later";
    }
  }

  #retry(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { promptId, state } of this.#entries) if (state === "waiting") this.#mark(promptId, "sending", null);
    void this.#postAll();
  }

  #mark(promptId: string, state: UnsentPrompt["state"], reason: string | null): void {
    this.#set(this.#entries.map((entry) => (entry.promptId === promptId ? { ...entry, state, reason } : entry)));
  }

  #set(entries: readonly UnsentPrompt[]): void {
    const stored = entries.map(({ promptId, text, images }): StoredPrompt => ({
      promptId,
      text,
      images: images.length,
    }));
    // If the storage is full, a reload right now may lose it.
    store(unsentKey(this.#session), stored.length === 0 ? null : JSON.stringify(stored));
    this.store.setState(entries, true);
  }
}

/** In the form that the transcript shows. */
export function asPrompt({ text, images, state, reason }: UnsentPrompt) {
  const attachments = images.map(({ name, mimeType, size }): Attachment => ({
    type: "image",
    name,
    mimeType,
    size,
    digest: "",
  }));
  const waiting = state === "waiting" ? "Offline; will be sent when reconnected" : null;
  return {
    text,
    attachments,
    by: "person",
    state: state === "refused" ? ("refused" as const) : ("sending" as const),
    reason: state === "refused" ? reason : waiting,
    edited: false,
  };
}

interface StoredPrompt {
  promptId: string;
  text: string;
  images: number;
}

function load(session: string): UnsentPrompt[] {
  const stored = (readJson(unsentKey(session)) ?? []) as StoredPrompt[];
  return stored.map(({ promptId, text, images }) => {
    const entry = { promptId, text, images: [] };
    // The images are gone, and the same id must not be reused for other content.
    if (images > 0) return { ...entry, state: "refused", reason: "The page was closed before the images were sent." };
    return { ...entry, state: "waiting", reason: null };
  });
}
