/** delivered | typed (how to check) | queued (why) | unconfirmed (why) | refused (why) */
import type { Receipt } from "../../contract/prompt.ts";
import { clean } from "./text.ts";

export function receiptLine({ disposition, reason }: Pick<Receipt, "disposition" | "reason">): string {
  return reason === null ? disposition : `${disposition} (${clean(reason)})`;
}
