/** A refusal with what only HTTP has: headers, and the rare status that has no error code of its own. */
import { errorStatus, HoldfastError, type ErrorCode } from "../contract/error.ts";

export class Refusal extends HoldfastError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; status?: number; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.status = options.status ?? errorStatus[code];
    this.headers = options.headers ?? {};
  }
}

const maxQuoted = 100;

/** Something that came from outside, short and without control characters, for a message. */
export function quoted(text: string): string {
  // eslint-disable-next-line no-control-regex -- that is what is taken out
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
  return `"${clean.length > maxQuoted ? `${clean.slice(0, maxQuoted)}…` : clean}"`;
}
