/**
 * Splits a byte stream into lines without ever holding more than one bounded line. A line over the limit is reported
 * with its length and dropped; the lines around it are unharmed.
 */
export type Line = { line: "whole"; text: string; end: number } | { line: "oversized"; bytes: number; end: number };

const newline = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  #skipped = 0;
  #offset: number;

  /** `offset` is where the first byte stands in the stream; each line tells the offset behind its newline. */
  constructor(maxBytes: number, offset = 0) {
    this.#maxBytes = maxBytes;
    this.#offset = offset;
  }

  /** Bytes of an unfinished last line. */
  get pending(): number {
    return this.#held + this.#skipped;
  }

  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (;;) {
      const at = chunk.indexOf(newline, start);
      if (at < 0) {
        this.#take(chunk.subarray(start));
        this.#offset += chunk.length - start;
        return;
      }
      this.#offset += at + 1 - start;
      if (this.pending === 0 && at - start <= this.#maxBytes) {
        // Nearly every line is whole in one piece: nothing to keep, so nothing to copy.
        yield { line: "whole", text: chunk.toString("utf8", start, at), end: this.#offset };
      } else {
        this.#take(chunk.subarray(start, at));
        yield this.#finish();
      }
      start = at + 1;
    }
  }

  #take(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#skipped > 0 || this.#held + piece.length > this.#maxBytes) {
      this.#skipped += this.#held + piece.length;
      this.#held = 0;
      this.#parts = [];
      return;
    }
    // A copy, because the caller reuses its read buffer.
    this.#parts.push(Buffer.from(piece));
    this.#held += piece.length;
  }

  #finish(): Line {
    const end = this.#offset;
    if (this.#skipped > 0) {
      const bytes = this.#skipped;
      this.#skipped = 0;
      return { line: "oversized", bytes, end };
    }
    const text = (this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)).toString("utf8");
    this.#parts = [];
    this.#held = 0;
    return { line: "whole", text, end };
  }
}
