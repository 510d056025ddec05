/**
 * Failures that users can meet: a closed list of codes, each with its HTTP status. The message states what happened, the
 * hint what to do next; programs read the code and the details, never the message. Anything else that is thrown is a
 * bug and is reported as `internal`.
 */
export const errorStatus = {
  usage: 400,
  invalid: 400,
  "malformed-json": 400,
  unauthorized: 401,
  /** The calling device is unknown or was revoked: it must delete its key. */
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
  /** Made by a client: there was no response. */
  unreachable: 503,
  "read-only": 403,
  "disk-full": 507,
  storage: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** Which failure it is, if one code stands for several that clients treat differently. */
export type ErrorReason = "session-not-found" | "verb-refused" | "worktree-missing";

/** What a failure is about, for programs. */
export interface ErrorDetails {
  reason?: ErrorReason;
  session?: string;
  path?: string;
  /** Programs that the daemon does not find on its PATH, each with its part of the message. */
  missingPrograms?: { program: string; message: string }[];
}

export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; cause?: unknown; details?: ErrorDetails } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "HoldfastError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.details = options.details ?? {};
  }
}

/** The body of a failed request. `details` is left out if there are none. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; hint: string | null; details?: ErrorDetails };
}

export function errorBody(error: unknown): ErrorBody {
  if (error instanceof HoldfastError) {
    const { code, message, hint, details } = error;
    return { error: { code, message, hint, ...(Object.keys(details).length === 0 ? {} : { details }) } };
  }
  return {
    error: {
      code: "internal",
      message: "Something went wrong inside the daemon.",
      hint: "See `holdfast logs` for the cause.",
    },
  };
}

/** The text to print for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
