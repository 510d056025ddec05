/**
 * Failures a person can meet: a closed list of codes, each with its HTTP status. The message says what happened,
 * the hint says what to do next. Anything else that is thrown is a bug and answers as `internal`.
 */
export const errorStatus = {
  usage: 400,
  invalid: 400,
  "malformed-json": 400,
  unauthorized: 401,
  /** The device that asks is not known, or not any more: what it keeps is to go. */
  "logged-out": 401,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  conflict: 409,
  "too-large": 413,
  "unsupported-media-type": 415,
  "misdirected-host": 421,
  "locked-out": 429,
  internal: 500,
  "preflight-failed": 422,
  "launch-failed": 502,
  starting: 503,
  /** Made by a client: nothing answered. */
  unreachable: 503,
  "read-only": 403,
  "disk-full": 507,
  storage: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "HoldfastError";
    this.code = code;
    this.hint = options.hint ?? null;
  }
}

/** What a failed request answers. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; hint: string | null };
}

export function errorBody(error: unknown): ErrorBody {
  if (error instanceof HoldfastError) {
    return { error: { code: error.code, message: error.message, hint: error.hint } };
  }
  return {
    error: {
      code: "internal",
      message: "Something went wrong inside the daemon.",
      hint: "See `holdfast logs` for the cause.",
    },
  };
}

/** What to print of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
