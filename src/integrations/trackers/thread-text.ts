import { plain, prose } from "./text.ts";

/** A thread's first voice is its author; who answered is named in the text. */
export function spoken(comments: readonly { author: string; body: string }[]): { author: string; body: string } {
  const [first, ...answers] = comments;
  const body = [prose(first?.body ?? ""), ...answers.map((one) => `${plain(one.author)}: ${prose(one.body)}`)];
  return { author: plain(first?.author ?? "ghost"), body: prose(body.join("\n\n")) };
}
