/** Prompts and their attachments: sending them, and the queue. */
import { promptIdPattern } from "./ids.ts";
import { answerers, documents, get, post, readers, schema, time, type Infer, type Operations } from "./operation.ts";
import { dispositions, type Disposition } from "./ids.ts";

/** Maximum length of a prompt; the API's body limit allows for its encoding. */
export const maxPromptBytes = 32 * 1024 * 1024;

/** Types that a page can show again without a risk. */
export const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;
const maxAttachments = 32;

const promptAttachment = schema("promptAttachment", (z) =>
  z.union([
    z.strictObject({
      type: z.literal("image"),
      mimeType: z.enum(imageTypes),
      /** Base64. */
      data: z.string().check(z.minLength(1), z.maxLength(maxPromptBytes)),
      name: z.optional(z.string().check(z.minLength(1), z.maxLength(250))),
    }),
    z.strictObject({
      type: z.literal("file"),
      /** A file of the session's worktree, relative to it. */
      path: z.string().check(z.minLength(1), z.maxLength(4096)),
      /** The part of it that is meant, or all of it; without it the agent reads the file itself. */
      text: z.optional(z.string().check(z.maxLength(maxPromptBytes))),
    }),
  ]),
);

const promptRequest = schema("promptRequest", (z) =>
  z.strictObject({
    promptId: z.string().check(z.regex(promptIdPattern)),
    text: z.string().check(z.minLength(1), z.maxLength(maxPromptBytes)),
    /** Together with the text at most `maxPromptBytes`, as sent. */
    attachments: z.optional(z.array(promptAttachment(z)).check(z.maxLength(maxAttachments))),
    /** How long to wait for the delivery receipt. */
    waitMs: z.optional(z.number().check(z.nonnegative(), z.maximum(600_000))),
    /** Wait for the end of the turn that answers it (chat); the response then has `turn`. */
    waitForTurn: z.optional(z.boolean()),
  }),
);
export type PromptRequest = Infer<typeof promptRequest>;

export interface Receipt {
  promptId: string;
  disposition: Disposition;
  reason: string | null;
}

const receiptJson = schema("receiptJson", (z) =>
  z.object({
    promptId: z.string(),
    disposition: z.enum(dispositions),
    reason: z.nullable(z.string()),
    /** Present if the caller waited for the end of the turn. */
    turn: z.optional(z.object({ stopReason: z.string(), text: z.string(), message: z.optional(z.string()) })),
  }),
);

const promptEditRequest = schema("promptEditRequest", (z) =>
  z.strictObject({
    text: z.optional(z.string().check(z.minLength(1), z.maxLength(maxPromptBytes))),
    /** New position in the queue, from 0. */
    position: z.optional(z.number().check(z.nonnegative())),
    withdraw: z.optional(z.boolean()),
  }),
);
export type PromptEditRequest = Infer<typeof promptEditRequest>;

const queueJson = schema("queueJson", (z) =>
  z.object({
    prompts: z.array(
      z.object({
        promptId: z.string(),
        text: z.string(),
        state: z.string(),
        admittedAt: time(z),
        attachments: z.array(z.looseObject({ type: z.string(), name: z.string(), size: z.number() })),
      }),
    ),
  }),
);

/** Sent as bytes, not as JSON. */
const image = documents<{ mimeType: string; bytes: Uint8Array }>("image", (z) => z.unknown());

export const promptOperations = {
  prompt: post(
    "/api/sessions/{id}/prompts",
    "Send a prompt",
    { device: "answer", agent: "message" },
    receiptJson,
    promptRequest,
  ),
  queue: get("/api/sessions/{id}/prompts", "List queued prompts", readers, queueJson),
  promptEdit: post(
    "/api/sessions/{id}/prompts/{prompt}",
    "Edit, move or withdraw a queued prompt",
    answerers,
    queueJson,
    promptEditRequest,
  ),
  attachment: get(
    "/api/sessions/{id}/prompts/{prompt}/attachments/{n}",
    "Get an image of a prompt as bytes, by its number from 0",
    readers,
    image,
  ),
} as const satisfies Operations;
