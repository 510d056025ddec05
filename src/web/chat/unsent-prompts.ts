/**
 * Prompts on their way: shown at once under the id that was made here, until the daemon's log has them. The id makes a
 * retry safe: after a break each is sent again, and a prompt that had arrived is not taken twice. One at a time: two that
 * are under way together may overtake each other.
 */
import { HoldfastError } from "../../contract/error.ts";
import type { Attachment } from "../../contract/event.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { live } from "../shared/data/live.ts";
import { unsentKey } from "../shared/data/session-cache.ts";
import type { NewImage } from "./images.tsx";

export interface UnsentPrompt {
  promptId: string;
  text: string;
  images: NewImage[];
  state: "sending" | "waiting" | "refused";
  reason: string | null;
}

/** The daemon is there and not ready yet: it starts. */
const retryMs = 2_000;

export class UnsentPrompts {
  readonly #session: string;
  #entries: readonly UnsentPrompt[];
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Those that the daemon has not answered yet, in the order they were written. */
  #unanswered: readonly string[];
  /** The one under way. */
  #posting: AbortController | null = null;

  constructor(session: string) {
    this.#session = session;
    this.#entries = stored(session);
    this.#unanswered = this.#entries.filter(({ state }) => state === "waiting").map(({ promptId }) => promptId);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly entries = (): readonly UnsentPrompt[] => this.#entries;

  /** Sends what a page before this one did not see arrive, and goes on whenever the line is back. */
  open(): () => void {
    this.#retry();
    const end = live.subscribe((state, before) => {
      if (state.line.is !== "open" || before.line.is === "open") return;
      // What went out on the old line may hang there for minutes.
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
    if (this.#entries.some((entry) => entry.promptId === promptId)) {
      this.#set(this.#entries.filter((entry) => entry.promptId !== promptId));
    }
  }

  /** Those that the log has are shown from there. */
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
      // One that was taken back, or that the log has already, needs no answer.
      // oxlint-disable-next-line no-await-in-loop -- in the order they were written
      const answer = entry === undefined ? "there" : await this.#post(entry, this.#posting.signal);
      if (answer === "none") break;
      if (answer === "there") this.#unanswered = this.#unanswered.filter((promptId) => promptId !== next);
    }
    this.#posting = null;
  }

  /** None: it is tried again later, and those behind it wait. Lost with the old line: at once. */
  async #post(entry: UnsentPrompt, signal: AbortSignal): Promise<"there" | "none" | "lost"> {
    const { promptId, text, images } = entry;
    const attachments = images.map(({ name, mimeType, data }) => ({ type: "image" as const, name, mimeType, data }));
    try {
      const body = { promptId, text, waitMs: 0, ...(attachments.length === 0 ? {} : { attachments }) };
      const receipt = await call("prompt", { params: { id: this.#session }, body, signal });
      if (receipt.disposition === "refused") this.#mark(promptId, "refused", receipt.reason);
      return "there";
    } catch (error) {
      if (signal.aborted) return "lost";
      const comesBack = error instanceof HoldfastError && (error.code === "unreachable" || error.code === "starting");
      if (!comesBack) {
        this.#mark(promptId, "refused", sentenceOf(error));
        return "there";
      }
      for (const one of this.#unanswered) this.#mark(one, "waiting", sentenceOf(error));
      this.#timer ??= setTimeout(() => this.#retry(), retryMs);
      return "none";
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
    this.#entries = entries;
    keep(this.#session, entries);
    for (const listener of this.#listeners) listener();
  }
}

/** As the list of prompts shows it. */
export function asPrompt({ text, images, state, reason }: UnsentPrompt) {
  const attachments = images.map(({ name, mimeType, size }): Attachment => ({
    type: "image",
    name,
    mimeType,
    size,
    digest: "",
  }));
  const waiting = state === "waiting" ? "No connection; it is sent as soon as there is one" : null;
  return {
    text,
    attachments,
    by: "person",
    state: state === "refused" ? ("refused" as const) : ("sending" as const),
    reason: state === "refused" ? reason : waiting,
    edited: false,
  };
}

interface Kept {
  promptId: string;
  text: string;
  images: number;
}

function keep(session: string, entries: readonly UnsentPrompt[]): void {
  try {
    const kept = entries.map(({ promptId, text, images }): Kept => ({ promptId, text, images: images.length }));
    if (kept.length === 0) localStorage.removeItem(unsentKey(session));
    else localStorage.setItem(unsentKey(session), JSON.stringify(kept));
  } catch {
    // No room: then a reload in this very moment may lose it.
  }
}

function stored(session: string): UnsentPrompt[] {
  try {
    const kept = JSON.parse(localStorage.getItem(unsentKey(session)) ?? "[]") as Kept[];
    return kept.map(({ promptId, text, images }) => {
      const entry = { promptId, text, images: [] };
      // The same id with other content would be another prompt.
      if (images > 0) return { ...entry, state: "refused", reason: "The page was closed before its images were sent." };
      return { ...entry, state: "waiting", reason: null };
    });
  } catch {
    return [];
  }
}
