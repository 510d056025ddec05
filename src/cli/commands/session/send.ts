import { readFileSync } from "node:fs";
import { HoldfastError, messageOf } from "../../../contract/error.ts";
import { promptIdPattern } from "../../../contract/ids.ts";
import type { Answers } from "../../../contract/answers.ts";
import { attachmentOptions, readAttachments } from "./attachments.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import type { Input } from "../../input.ts";
import { clean, inert, parseDuration } from "../../render/text.ts";
import { receiptLine } from "../../render/receipt.ts";
import { verbFailure } from "./verb.ts";

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
    try {
      if (input.flag("wait")) await requireChat(context, id);
      const attachments = readAttachments(input);
      const body = {
        promptId,
        text,
        ...(attachments.length === 0 ? {} : { attachments }),
        ...(waitMs === undefined ? {} : { waitMs }),
      };
      if (input.flag("wait")) {
        const { sendAndWait } = await import("./send-and-wait.ts");
        return await sayTurn(context, input, await sendAndWait(context, id, body));
      }
      const receipt = await context.call("prompt", { params: { id }, body });
      const failed = receipt.disposition === "refused" || receipt.disposition === "unconfirmed";
      if (input.flag("json")) context.json(receipt);
      else (failed ? context.err : context.out)(receiptLine(receipt));
      return failed ? 1 : 0;
    } catch (error) {
      throw await verbFailure(context, "send to", id, error);
    }
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
