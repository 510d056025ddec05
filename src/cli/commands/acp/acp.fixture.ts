/** For tests of commands on chat sessions: what a daemon answers to them. */
import { sessionOf } from "../../test-support/stand-in.ts";
import * as answers from "../commands.fixture.ts";

export const chat = (id: string, more = {}) => sessionOf({ id, kind: "chat", ...more });
export const verbResponse = (id: string, more = {}) => answers.verbResponse(id, { session: chat(id), ...more });
export const refused = (message: string, hint: string | null = null) => answers.failure(409, "conflict", message, hint);
