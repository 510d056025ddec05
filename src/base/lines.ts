/** Lines of a byte stream, and the nesting depth of a JSON line. */
export type Line = { line: "complete"; text: string; end: number } | { line: "oversized"; bytes: number; end: number };

const newline = 0x0a;

/** Splits a byte stream into lines, buffering at most one bounded line. A longer line is dropped and reported by its length. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  #skipped = 0;
  #offset: number;

  /** `offset`: position of the first byte in the stream. Each line reports the offset after its newline. */
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
        // Almost every line is complete within one chunk: no copy needed.
        yield { line: "complete", text: chunk.toString("utf8", start, at), end: this.#offset };
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
    // Copied because the caller reuses its read buffer.
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
    return { line: "complete", text, end };
  }
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Whether JSON text nests arrays and objects deeper than `limit`, without parsing it: serializing such a value overflows
 * the stack. Exact for valid JSON only.
 */
export function isDeeperThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0) return false;
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash && at - 1 - slashes >= from) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
