/**
 * Sends a prompt and waits for the end of its turn, which may take hours. A daemon that goes meanwhile is waited for,
 * and asked again with the same prompt id: that sends nothing twice.
 */
import type { PromptRequest } from "../../../contract/command.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Answers } from "../../../contract/answers.ts";
import { isLost } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";

const retryMs = 250;

export async function sendAndWait(context: Context, id: string, prompt: PromptRequest): Promise<Answers["prompt"]> {
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
