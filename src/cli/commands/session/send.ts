import { readFileSync } from "node:fs";
import { HoldfastError, messageOf } from "../../../contract/error.ts";
import { promptIdPattern } from "../../../contract/ids.ts";
import type { Answers } from "../../../contract/answers.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption, sessionArgument, type Input, type OptionEntry } from "../../command.ts";
import { clean, inert, parseDuration } from "../../render/text.ts";
import { receiptLine } from "../../render/receipt.ts";
import { basename } from "node:path";
import type { PromptRequest } from "../../../contract/command.ts";
import { isLost } from "../../system/daemon/connection.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";

const retryMs = 250;

async function sendAndWait(context: Context, id: string, prompt: PromptRequest): Promise<Answers["prompt"]> {
  for (;;) {
    try {
      return await context.call("prompt", { params: { id }, body: { ...prompt, waitForTurn: true } });
    } catch (error) {
      if (!(error instanceof HoldfastError && error.code === "unreachable" && isLost(error.cause))) throw error;
    }
    context.err("The daemon went away; waiting for it.");
    // Somebody may have stopped it on purpose.
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

/** What the daemon takes. */
const longestWaitMs = 600_000;

export const command: CommandEntry = {
  arguments: [
    sessionArgument,
    {
      name: "text",
      description: "the prompt; - reads it from stdin",
      optional: true,
      variadic: true,
      completes: "none",
    },
  ],
  options: [
    { long: "file", short: "f", value: "path", description: "read the prompt from a file", completes: "file" },
    ...attachmentOptions,
    { long: "prompt-id", value: "id", description: "your own id: sending it again is then safe", completes: "none" },
    { long: "timeout", value: "time", description: "how long to wait for the receipt, such as 5s or 2m (default 30s)" },
    { long: "wait", description: "wait for the end of the turn and print what the agent said (chat sessions)" },
    jsonOption,
  ],
  examples: [
    ["a prompt", "holdfast send ma-12 'Now add a test'"],
    ["from a file", "holdfast send ma-12 -f review.md"],
    ["with a picture and a file", "holdfast send ma-12 'Make it look so' --image mock.png --attach src/page.css"],
    ["from another command", "git diff | holdfast send ma-12 -"],
    ["a question and its answer", "holdfast send ma-12 --wait 'Which tests fail?'"],
  ],
  notes:
    "Waits for the receipt:\n  delivered    the agent itself confirmed it\n  typed        it is on the screen of an agent that confirms nothing, or is a command of the agent (/… or !…)\n  queued       it is sent later, and why not yet\n  unconfirmed  it may or may not have arrived; it is not sent again without you (exit code 1)\n  refused      it is not sent, and why (exit code 1)\nWith --wait: for the end of the turn; then what the agent said is printed, and how the turn ended if not by itself. A turn that failed, was refused or was cut has exit code 1.",
  daemon: "starts",
  fails: "send to",
  async run(context, input) {
    const id = input.arg(0);
    const text = readPrompt(input);
    const promptId = input.text("prompt-id") ?? process.getBuiltinModule("node:crypto").randomUUID();
    if (!promptIdPattern.test(promptId)) {
      throw new HoldfastError("usage", "--prompt-id may hold letters, digits and . _ : - only, at most 128.");
    }
    const timeout = input.text("timeout");
    const waitMs = timeout === undefined ? undefined : parseDuration(timeout);
    if (waitMs === null) throw new HoldfastError("usage", `--timeout must be a time such as 5s or 2m, not ${timeout}.`);
    if (waitMs !== undefined && waitMs > longestWaitMs) {
      throw new HoldfastError("usage", `--timeout must be 10m at most, not ${timeout}.`);
    }
    if (input.flag("wait")) await requireChat(context, id);
    const attachments = readAttachments(input);
    const body = {
      promptId,
      text,
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(waitMs === undefined ? {} : { waitMs }),
    };
    if (input.flag("wait")) {
      return await sayTurn(context, input, await sendAndWait(context, id, body));
    }
    const receipt = await context.call("prompt", { params: { id }, body });
    const failed = receipt.disposition === "refused" || receipt.disposition === "unconfirmed";
    if (input.flag("json")) context.json(receipt);
    else (failed ? context.err : context.out)(receiptLine(receipt));
    return failed ? 1 : 0;
  },
};

async function requireChat(context: Context, id: string): Promise<void> {
  const { kind } = await context.call("session", { params: { id } });
  if (kind === "chat") return;
  throw new HoldfastError("conflict", "it is a terminal session, whose turns have no end that can be waited for.", {
    hint: `Leave out --wait, and see its screen: holdfast attach ${id}`,
  });
}

/** Ended by the agent itself or by a user: any other end failed or cut the turn. */
const goodEnds = ["end_turn", "cancelled", "forced"];

/** Prints the turn, or the reason why there was none. Exits 1 without a turn, and for a turn that failed. */
async function sayTurn(context: Context, input: Input, receipt: Answers["prompt"]): Promise<number> {
  const { turn } = receipt;
  if (input.flag("json")) context.json(receipt);
  else if (turn === undefined) context.err(receiptLine(receipt));
  else {
    if (turn.text !== "") context.out(inert(turn.text).trimEnd());
    if (turn.stopReason !== "end_turn") {
      const { stopWords } = await import("../../render/transcript.ts");
      context.out(clean(`[${stopWords(turn.stopReason)}] ${turn.message ?? ""}`).trimEnd());
    }
  }
  return turn !== undefined && goodEnds.includes(turn.stopReason) ? 0 : 1;
}

function readPrompt(input: Input): string {
  const [, ...words] = input.args;
  const file = input.text("file");
  const sources = (words.length > 0 ? 1 : 0) + (file === undefined ? 0 : 1);
  if (sources !== 1) {
    throw new HoldfastError("usage", sources === 0 ? "There is no prompt to send." : "The prompt is given twice.", {
      hint: "Give it as text, with -f <file>, or with - to read stdin.",
    });
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
    throw new HoldfastError("invalid", `The prompt cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
