/**
 * The reducer's state: the head, the known items, and references to those that a later event can still change. All but
 * the items can be saved as JSON (see `saved`).
 */
import type { TranscriptHead, TranscriptItem, TranscriptRefs } from "../../contract/transcript.ts";

export interface SavedTranscript {
  head: TranscriptHead;
  refs: TranscriptRefs;
}

export class TranscriptState {
  readonly items: Map<number, TranscriptItem>;
  head: TranscriptHead;
  /** The last item: following text is added to it. */
  last: number | null;
  readonly tools: Map<string, number>;
  readonly permissions: Map<string, number>;
  readonly prompts: Map<string, number>;
  launch: number | null;
  /** By the current event. */
  changed: number[] = [];
  removed: number[] = [];

  /** @param items in order; they must contain those that the saved refs name. */
  constructor(saved: SavedTranscript | null, items: readonly TranscriptItem[]) {
    const { head, refs } = saved ?? { head: emptyHead, refs: noRefs };
    this.items = new Map(items.map((item) => [item.seq, item]));
    this.head = head;
    this.last = refs.last;
    this.tools = new Map(refs.tools);
    this.permissions = new Map(refs.permissions);
    this.prompts = new Map(refs.prompts);
    this.launch = refs.launch;
  }

  saved(): SavedTranscript {
    return {
      head: this.head,
      refs: {
        last: this.last,
        tools: [...this.tools],
        permissions: [...this.permissions],
        prompts: [...this.prompts],
        launch: this.launch,
      },
    };
  }

  set(now: Partial<TranscriptHead>): void {
    this.head = { ...this.head, ...now };
  }

  find(seq: number | null | undefined): TranscriptItem | undefined {
    return seq === null || seq === undefined ? undefined : this.items.get(seq);
  }

  place(item: TranscriptItem): void {
    this.last = item.seq;
    this.replace(item);
  }

  replace(item: TranscriptItem): void {
    this.items.set(item.seq, item);
    this.changed.push(item.seq);
  }

  remove(seq: number): void {
    this.items.delete(seq);
    this.removed.push(seq);
    if (this.last === seq) this.last = null;
  }
}

/** The items that a saved transcript needs to continue. */
export function referred(refs: TranscriptRefs): number[] {
  const listed = [...refs.tools, ...refs.permissions, ...refs.prompts].map(([, seq]) => seq);
  return [...new Set([...listed, refs.last, refs.launch].filter((seq) => seq !== null))].sort((a, b) => a - b);
}

const emptyHead: TranscriptHead = {
  seq: 0,
  queue: [],
  plan: null,
  modes: null,
  models: null,
  configOptions: null,
  commands: null,
  usage: null,
  turn: null,
  lastReset: null,
  primerUsed: true,
};
const noRefs: TranscriptRefs = { last: null, tools: [], permissions: [], prompts: [], launch: null };
