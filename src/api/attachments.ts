/** Attachments of a prompt, checked before anything is stored. */
import { hash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { imageTypes, maxPromptBytes, type PromptRequest } from "../contract/prompt.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { Attachment } from "../contract/event.ts";
import type { SessionState } from "../model/session.ts";

type Given = NonNullable<PromptRequest["attachments"]>[number];

export interface Taken {
  attachments: Attachment[];
  /** Stored bytes of each, in the same order. */
  bytes: Uint8Array[];
}

/** @param isRetry attachments that were admitted before are not checked against the current files. */
export function takeAttachments(session: SessionState, request: PromptRequest, isRetry: boolean): Taken {
  const given = request.attachments ?? [];
  const size = given.reduce((sum, one) => sum + sizeOf(one), Buffer.byteLength(request.text));
  if (size > maxPromptBytes)
    throw invalid(`The prompt is ${size} bytes with its attachments; the limit is ${maxPromptBytes}.`);
  const bytes = given.map((one) =>
    one.type === "image" ? imageBytes(one.data, one.mimeType) : Buffer.from(one.text ?? ""),
  );
  const attachments = given.map((one, n): Attachment => {
    const kept = { size: bytes[n]!.length, digest: hash("sha256", bytes[n]!, "hex") };
    if (one.type === "file") {
      return { type: "file", name: pathWithin(session.workspacePath, one.path, isRetry), mimeType: null, ...kept };
    }
    const name = one.name ?? `image ${n + 1}`;
    return { type: "image", name, mimeType: one.mimeType, ...kept };
  });
  return { attachments, bytes };
}

/** As it is sent: an image is a third larger as text. */
function sizeOf(one: Given): number {
  return one.type === "image" ? one.data.length : Buffer.byteLength(one.text ?? "") + one.path.length;
}

/** Magic numbers: pages show these images again, so their type must be right. */
const beginnings: Record<(typeof imageTypes)[number], (head: Buffer) => boolean> = {
  "image/png": (head) => head.subarray(0, 8).toString("latin1") === "\x89PNG\r\n\x1a\n",
  "image/jpeg": (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff,
  "image/gif": (head) => /^GIF8[79]a/.test(head.toString("latin1")),
  "image/webp": (head) => /^RIFF[^]{4}WEBP/.test(head.toString("latin1")),
};

function imageBytes(data: string, mimeType: (typeof imageTypes)[number]): Buffer {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw invalid("An image's data is not base64.");
  const bytes = Buffer.from(data, "base64");
  if (beginnings[mimeType](bytes.subarray(0, 16))) return bytes;
  throw invalid(`The attachment is not a valid ${mimeType}.`, `Images may be ${imageTypes.join(", ")}.`);
}

/** The path below the worktree, links followed: an agent must not be led out of it. */
function pathWithin(worktree: string, path: string, isRetry: boolean): string {
  if (path.includes("\0")) throw invalid("A path contains a zero byte.");
  const name = relative(worktree, resolve(worktree, path));
  if (!isBelow(name)) throw outside(path);
  if (isRetry) return name;
  try {
    const real = realpathSync(join(worktree, name));
    if (!isBelow(relative(realpathSync(worktree), real))) throw outside(path);
    if (statSync(real).isFile()) return name;
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw invalid(`There is no ${path} in the session's worktree.`, `It is at ${worktree}.`);
  }
  throw invalid(`${path} is not a file.`);
}

function isBelow(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function outside(path: string): HoldfastError {
  return invalid(`${path} is outside of the session's worktree.`, "Only files of the worktree can be attached.");
}

function invalid(message: string, hint?: string): HoldfastError {
  return new HoldfastError("invalid", message, hint === undefined ? {} : { hint });
}
