import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { HoldfastError, messageOf } from "../../../contract/errors.ts";
import { promptIdPattern } from "../../../contract/ids.ts";
import type { Output } from "../../../contract/operations.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, sessionArgument, type Input, type OptionEntry } from "../../command.ts";
import { stopLabel } from "../../../model/transcript/item-text.ts";
import { clean, inert, receiptLine } from "../../render/text.ts";
import { parseDuration } from "../../../model/duration.ts";
import { basename } from "node:path";
import type { PromptRequest } from "../../../contract/prompt.ts";
import { isLost } from "../../system/daemon/connection.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";

const retryMs = 250;

/**
 * Sends a prompt and waits for the end of its turn, which may take hours. Waits for a daemon that restarts meanwhile, then
 * resends with the same prompt id, which never sends twice.
 */
async function sendAndWait(context: Context, id: string, prompt: PromptRequest): Promise<Output<"prompt">> {
  for (;;) {
    try {
      return await context.call("prompt", { params: { id }, body: { ...prompt, waitForTurn: true } });
    } catch (error) {
      if (!(error instanceof HoldfastError && error.code === "unreachable" && isLost(error.cause))) throw error;
    }
    context.err("Lost connection to the daemon; waiting for it to come back.");
    // It may have been stopped on purpose.
    context.mayStart = false;
    do await new Promise((resume) => setTimeout(resume, retryMs));
    while (findDaemon(context.paths).daemon !== "running");
  }
}

type Attachments = NonNullable<PromptRequest["attachments"]>;

const attachmentOptions: readonly OptionEntry[] = [
  {
    long: "image",
    value: "path",
    description: "Attach an image (PNG, JPEG, WebP, GIF; chat only; repeatable)",
    completes: "file",
    many: true,
  },
  {
    long: "attach",
    value: "path",
    description: "Reference a file in the session's worktree (repeatable)",
    completes: "file",
    many: true,
  },
];

function readAttachments(input: Input): Attachments {
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

/** The type is determined by its bytes: names are often wrong. */
function readImage(path: string): { mimeType: ImageType; data: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new HoldfastError("invalid", `Cannot read the image: ${messageOf(error)}`, { cause: error });
  }
  const head = bytes.toString("latin1", 0, 16);
  const mimeType = begins.find(([pattern]) => pattern.test(head))?.[1];
  if (mimeType === undefined) {
    throw new HoldfastError("invalid", `${path} is not a PNG, JPEG, WebP or GIF image.`, {
      hint: "To reference other files in the worktree, use --attach.",
    });
  }
  return { mimeType, data: bytes.toString("base64") };
}

/** The daemon's limit. */
const longestWaitMs = 600_000;

export const command: CommandEntry = {
  arguments: [
    sessionArgument,
    {
      name: "text",
      description: "Prompt; - reads it from stdin",
      optional: true,
      variadic: true,
    },
  ],
  options: [
    { long: "file", short: "f", value: "path", description: "Read the prompt from a file", completes: "file" },
    ...attachmentOptions,
    { long: "prompt-id", value: "id", description: "Prompt id; resending with the same id is safe" },
    { long: "timeout", value: "time", description: "How long to wait for delivery, e.g. 5s or 2m (default: 30s)" },
    { long: "wait", description: "Wait for the turn to end and print the reply (chat only)" },
  ],
  examples: [
    ["send a prompt", "holdfast send ma-12 'Now add a test'"],
    ["send a file", "holdfast send ma-12 -f review.md"],
    [
      "attach an image and a file",
      "holdfast send ma-12 'Make it look like this' --image mock.png --attach src/page.css",
    ],
    ["send another command's output", "git diff | holdfast send ma-12 -"],
    ["ask a question and print the reply", "holdfast send ma-12 --wait 'Which tests fail?'"],
  ],
  notes:
    "Waits for delivery and prints:\n  delivered    the agent confirmed it\n  typed        it is on the screen of an agent that does not confirm prompts, or is an agent command (/… or !…)\n  queued       it is sent later, with the reason\n  unconfirmed  it may not have arrived; it is never resent automatically (exit 1)\n  refused      it is not sent, with the reason (exit 1)\nWith --wait, waits for the turn to end and prints the reply, plus the stop reason if it is not end_turn. Exits 1 if\nthe turn failed, was refused or was cut off.",
  fails: "send to",
  async run(context, input) {
    const id = input.arg(0);
    const text = readPrompt(input);
    const promptId = input.text("prompt-id") ?? randomUUID();
    if (!promptIdPattern.test(promptId)) {
      throw new HoldfastError("usage", "--prompt-id must be at most 128 letters, digits and . _ : -");
    }
    const timeout = input.text("timeout");
    const waitMs = timeout === undefined ? undefined : parseDuration(timeout);
    if (waitMs === null) throw new HoldfastError("usage", `--timeout must be a time such as 5s or 2m, not ${timeout}.`);
    if (waitMs !== undefined && waitMs > longestWaitMs) {
      throw new HoldfastError("usage", `--timeout must be at most 10m, not ${timeout}.`);
    }
    if (input.flag("wait")) await requireChat(context, id);
    const attachments = readAttachments(input);
    const body = {
      promptId,
      text,
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(waitMs === undefined ? {} : { waitMs }),
    };
    if (input.flag("wait")) return printTurn(context, await sendAndWait(context, id, body));
    const receipt = await context.call("prompt", { params: { id }, body });
    return context.print(receipt, receiptLine(receipt), ["refused", "unconfirmed"].includes(receipt.disposition));
  },
};

async function requireChat(context: Context, id: string): Promise<void> {
  const { kind } = await context.call("session", { params: { id } });
  if (kind === "chat") return;
  throw new HoldfastError("conflict", "--wait is only supported for chat sessions.", {
    hint: `Omit --wait, and watch its terminal: holdfast attach ${id}`,
  });
}

/** Ended by the agent or by a user; any other turn failed or was cut off. */
const goodEnds = ["end_turn", "cancelled", "forced"];

/** Prints the turn, or the reason why there was none. Exits 1 without a turn, and for a turn that failed. */
function printTurn(context: Context, receipt: Output<"prompt">): number {
  const { turn } = receipt;
  if (turn === undefined) return context.print(receipt, receiptLine(receipt), true);
  const { text, stopReason, message } = turn;
  const lines = [
    ...(text === "" ? [] : [inert(text).trimEnd()]),
    ...(stopReason === "end_turn" ? [] : [clean(`[${stopLabel(stopReason)}] ${message ?? ""}`).trimEnd()]),
  ];
  context.print(receipt, lines.length === 0 ? null : lines);
  return goodEnds.includes(stopReason) ? 0 : 1;
}

function readPrompt(input: Input): string {
  const [, ...words] = input.args;
  const file = input.text("file");
  const sources = (words.length > 0 ? 1 : 0) + (file === undefined ? 0 : 1);
  if (sources !== 1) {
    throw new HoldfastError(
      "usage",
      sources === 0 ? "There is no prompt to send." : "Both text and a file were given; use one.",
      {
        hint: "Pass it as text, with -f <file>, or with - to read stdin.",
      },
    );
  }
  const text =
    file !== undefined
      ? read(file === "-" ? 0 : file)
      : words.length === 1 && words[0] === "-"
        ? read(0)
        : words.join(" ");
  if (text.trim() === "") throw new HoldfastError("usage", "The prompt is empty.");
  return text;
}

function read(source: string | 0): string {
  try {
    return readFileSync(source, "utf8");
  } catch (error) {
    throw new HoldfastError("invalid", `Cannot read the prompt: ${messageOf(error)}`, { cause: error });
  }
}
