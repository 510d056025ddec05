/** For tests of commands on chat sessions: what a daemon answers to them. */
import { sessionOf } from "../../test-support/stand-in.ts";

export const chat = (id: string, more = {}) => sessionOf({ id, kind: "chat", ...more });
export const verbAnswer = (id: string, more = {}) => ({
  session: chat(id),
  remaining: [],
  done: true,
  notes: [],
  ...more,
});
export const refused = (message: string, hint: string | null = null) => ({
  status: 409,
  answer: { error: { code: "conflict", message, hint } },
});
