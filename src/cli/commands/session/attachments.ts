/** Images and files that go with a prompt, from what was typed. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { PromptRequest } from "../../../contract/command.ts";
import { HoldfastError, messageOf } from "../../../contract/error.ts";
import type { OptionEntry } from "../../command.ts";
import type { Input } from "../../input.ts";

export type Attachments = NonNullable<PromptRequest["attachments"]>;

export const attachmentOptions: readonly OptionEntry[] = [
  {
    long: "image",
    value: "path",
    description: "send this image along: PNG, JPEG, WebP or GIF (chat; may be repeated)",
    completes: "file",
    many: true,
  },
  {
    long: "attach",
    value: "path",
    description: "refer to this file of the session's worktree (may be repeated)",
    completes: "file",
    many: true,
  },
];

export function readAttachments(input: Input): Attachments {
  return [
    ...input.list("image").map((path) => ({ type: "image" as const, name: basename(path), ...readImage(path) })),
    ...input.list("attach").map((path) => ({ type: "file" as const, path })),
  ];
}

type ImageType = Extract<Attachments[number], { type: "image" }>["mimeType"];
const begins: readonly (readonly [RegExp, ImageType])[] = [
  [/^\x89PNG/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
];

/** Told by its bytes: names are often wrong. */
function readImage(path: string): { mimeType: ImageType; data: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new HoldfastError("invalid", `The image cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const head = bytes.toString("latin1", 0, 16);
  const mimeType = begins.find(([pattern]) => pattern.test(head))?.[1];
  if (mimeType === undefined) {
    throw new HoldfastError("invalid", `${path} is no PNG, JPEG, WebP or GIF.`, {
      hint: "Other files of the worktree can be referred to with --attach.",
    });
  }
  return { mimeType, data: bytes.toString("base64") };
}
