/**
 * One terminal for what comes and what is typed. Text is written as it comes while nothing is typed; as soon as there
 * is a line in the making, it waits until that line is sent or emptied, so that neither runs into the other.
 */
export interface LineEditor {
  /** What is typed so far. */
  line: () => string;
  /** Shows the editor's prompt at the start of the current row. */
  prompt: () => void;
}

const clearRow = "\r\u001b[K";

export class ChatScreen {
  readonly #write: (text: string) => void;
  readonly #editor: LineEditor;
  #held = "";
  #midLine = false;
  #prompting = false;

  constructor(write: (text: string) => void, editor: LineEditor) {
    this.#write = write;
    this.#editor = editor;
  }

  show(text: string): void {
    this.#held += text;
    this.release();
  }

  /** Writes what waited, unless a line is in the making. */
  release(): void {
    if (this.#held === "" || this.#editor.line() !== "") return;
    if (this.#prompting) this.#write(clearRow);
    this.#prompting = false;
    this.#write(this.#held);
    this.#midLine = !this.#held.endsWith("\n");
    this.#held = "";
  }

  /** Before a key reaches the editor, and whenever it is the person's turn. */
  prompt(): void {
    if (this.#prompting) return;
    if (this.#midLine) this.#write("\n");
    this.#midLine = false;
    this.#prompting = true;
    this.#editor.prompt();
  }

  /** The editor has moved on to a new row. */
  submitted(): void {
    this.#prompting = false;
    this.#midLine = false;
    this.release();
  }
}
