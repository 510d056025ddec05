/** Reads and checks a request's body: content type, size, JSON, schema. Never holds more than the limit. */
import { hash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Operation, Schema } from "../contract/operation.ts";
import { messageOf } from "../contract/errors.ts";
import { maxPromptBytes } from "../contract/prompt.ts";
import { quoted, Refusal } from "./response.ts";

/** Buffered for a caller without a token: many times the size of a code or a passphrase. */
const strangerLimitBytes = 16 * 1024;
/** Everything but prompts. */
const smallLimitBytes = 1024 * 1024;
/** JSON doubles quotes and newlines. */
export const promptLimitBytes = 2 * maxPromptBytes;

const withPrompt: ReadonlySet<string> = new Set(["promptRequest", "spawnRequest"]);

export function bodyLimit({ who, input }: Operation, largest: number): number {
  if (who.device === "anyone") return Math.min(strangerLimitBytes, largest);
  return input !== undefined && withPrompt.has(input.id) ? largest : Math.min(smallLimitBytes, largest);
}

/** The gate checked the signature over this digest before any of the body was read. */
export function checkSigned(bytes: Uint8Array, signed: string): void {
  const digest = bytes.length === 0 ? "" : hash("sha256", bytes, "base64url");
  if (digest !== signed) throw new Refusal("unauthorized", "The body is not the one that the device signed.");
}

/** @param proceed asks a client that sent `Expect: 100-continue` for its body. */
export async function readJsonBody(
  request: IncomingMessage,
  schema: Schema,
  limitBytes: number,
  proceed: () => void,
  signed: string | null = null,
): Promise<unknown> {
  checkContentType(request);
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  proceed();
  const bytes = await collect(request, limitBytes);
  if (signed !== null) checkSigned(bytes, signed);
  const value = bytes.length === 0 ? {} : parse(bytes);
  return validate(schema, value);
}

/** The largest that GitHub sends. None of it is held. */
const rawLimitBytes = 25 * 1024 * 1024;
/** Strangers' bodies that are read at the same time, for their signature alone. */
export const maxRawBodies = 16;
let rawBodies = 0;

/** As it comes, piece by piece, for a sender that signs it. */
export async function readRawBody(
  request: IncomingMessage,
  proceed: () => void,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  if (Number(request.headers["content-length"] ?? 0) > rawLimitBytes) throw tooLarge(rawLimitBytes);
  if (rawBodies >= maxRawBodies) {
    throw new Refusal("locked-out", "Too many webhooks are being read right now.", {
      status: 503,
      headers: { "Retry-After": "10", Connection: "close" },
    });
  }
  rawBodies++;
  try {
    proceed();
    await eachPiece(request, rawLimitBytes, take);
  } finally {
    rawBodies--;
  }
}

export function refuseBody(request: IncomingMessage): void {
  const length = request.headers["content-length"];
  if ((length !== undefined && length !== "0") || request.headers["transfer-encoding"] !== undefined) {
    throw new Refusal("invalid", `${request.method ?? ""} does not accept a body here.`);
  }
}

/** A page of another site can send text/plain and forms without asking first; application/json it cannot. */
function checkContentType(request: IncomingMessage): void {
  const given = request.headers["content-type"] ?? "";
  const [type = "", ...parameters] = given.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((each) => each.startsWith("charset="))?.replace(/^charset=|"/g, "") ?? "utf-8";
  if (type !== "application/json" || (charset !== "utf-8" && charset !== "utf8")) {
    throw new Refusal(
      "unsupported-media-type",
      `Writes must be application/json, ${given === "" ? "and this one has no content type" : `not ${quoted(given)}`}.`,
      { hint: "Send the header `Content-Type: application/json`." },
    );
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new Refusal(
      "unsupported-media-type",
      `Unsupported Content-Encoding ${quoted(encoding)}; send the body uncompressed.`,
    );
  }
}

async function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  await eachPiece(request, limitBytes, (part) => parts.push(part));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function eachPiece(request: IncomingMessage, limitBytes: number, take: (part: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const settle = (act: () => void): void => {
      request.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      act();
    };
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size <= limitBytes) take(part);
      else {
        request.pause();
        settle(() => reject(tooLarge(limitBytes)));
      }
    };
    const onEnd = (): void => settle(resolve);
    const onError = (cause: Error): void => settle(() => reject(cutOff(cause)));
    const onClose = (): void => settle(() => reject(cutOff()));
    request.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal("malformed-json", "The body is not UTF-8.");
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal("malformed-json", `The body is not valid JSON: ${messageOf(error)}.`);
  }
}

/** More than these help no one. */
const maxIssues = 5;

/** zod is loaded with the first write: a starting daemon does not need it. */
async function validate(schema: Schema, value: unknown): Promise<unknown> {
  const [z, { default: english }] = await Promise.all([import("zod/mini"), import("zod/v4/locales/en.js")]);
  const result = schema(z).safeParse(value, { error: english().localeError });
  if (result.success) return result.data;
  const { issues } = result.error;
  const sentences = issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  const more = issues.length > maxIssues ? `; and ${issues.length - maxIssues} more` : "";
  throw new Refusal("invalid", `The request is not valid: ${sentences.join("; ")}${more}.`);
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal("too-large", `The body exceeds the limit of ${limitBytes} bytes.`, {
    headers: { Connection: "close" },
  });
}

function cutOff(cause?: Error): Refusal {
  return new Refusal("invalid", "The request ended before its body did.", { cause, headers: { Connection: "close" } });
}
