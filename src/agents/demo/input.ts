/**
 * Parses the input of a terminal in raw mode: text typed or pasted, Enter, interrupt, end. A bracketed paste keeps its
 * line breaks; outside of one, Enter sends.
 */
export type DemoKey =
  | { key: "text"; text: string }
  | { key: "enter" }
  | { key: "erase" }
  | { key: "interrupt" }
  | { key: "end" };

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

export class DemoInput {
  #pending = "";
  #pasting = false;

  /** The complete keys; an incomplete sequence waits for the rest. */
  push(chunk: string): DemoKey[] {
    this.#pending += chunk;
    const keys: DemoKey[] = [];
    while (this.#pending !== "") {
      const taken = this.#pasting ? this.#takePaste(keys) : this.#takeKey(keys);
      if (!taken) break;
    }
    return keys;
  }

  #takePaste(keys: DemoKey[]): boolean {
    const end = this.#pending.indexOf(pasteEnd);
    const text = end < 0 ? withoutPartOf(this.#pending, pasteEnd) : this.#pending.slice(0, end);
    if (text !== "") keys.push({ key: "text", text: text.replaceAll(/\r\n?/g, "\n") });
    this.#pending = this.#pending.slice(text.length);
    if (end < 0) return false;
    this.#pending = this.#pending.slice(pasteEnd.length);
    this.#pasting = false;
    return true;
  }

  #takeKey(keys: DemoKey[]): boolean {
    if (this.#pending.startsWith(pasteStart)) {
      this.#pending = this.#pending.slice(pasteStart.length);
      this.#pasting = true;
      return true;
    }
    if (pasteStart.startsWith(this.#pending) && this.#pending !== "\u001b") return false;
    const first = this.#pending[0] ?? "";
    if (first === "\u001b") {
      // oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
      const sequence = /^\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?/.exec(this.#pending)?.[0] ?? first;
      this.#pending = this.#pending.slice(sequence.length);
      if (sequence === "\u001b") keys.push({ key: "interrupt" });
      return true;
    }
    // oxlint-disable-next-line no-control-regex -- control characters are keys, not text
    const text = /^[^\u0000-\u001f\u007f]+/.exec(this.#pending)?.[0];
    this.#pending = this.#pending.slice(text?.length ?? 1);
    if (text !== undefined) keys.push({ key: "text", text });
    else if (first === "\r" || first === "\n") keys.push({ key: "enter" });
    else if (first === "\u007f" || first === "\b") keys.push({ key: "erase" });
    else if (first === "\u0003") keys.push({ key: "interrupt" });
    else if (first === "\u0004") keys.push({ key: "end" });
    return true;
  }
}

/** Without an end that may be the start of the mark. */
function withoutPartOf(text: string, mark: string): string {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (mark.startsWith(text.slice(-length))) return text.slice(0, -length);
  }
  return text;
}
