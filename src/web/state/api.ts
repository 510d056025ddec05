/** Calls to the daemon that served this page. A token that it no longer knows sends the person back to the login. */
import { createClient, pathOf, type CallableRoute, type CallOptions } from "../../client/client.ts";
import { createFetchTransport } from "../../client/fetch-transport.ts";
import { HoldfastError } from "../../protocol/error.ts";
import { routes } from "../../protocol/http.ts";
import type { Answers } from "../../protocol/answers.ts";
import { forgetToken, token } from "./login.ts";
import { live } from "./live.ts";

const client = createClient({ transport: createFetchTransport("", (url, init) => fetch(url, init)), token });

export async function call<R extends CallableRoute>(route: R, options?: CallOptions<R>): Promise<Answers[R]> {
  try {
    return await client.call(route, options);
  } catch (error) {
    const refused = error instanceof HoldfastError && error.code === "unauthorized" && route !== "login";
    // An answer that comes late must not talk over why this browser was logged out.
    if (refused && live.getState().login.is !== "out") {
      logOut("This browser's login is not valid any more: it has expired or was revoked.");
    }
    throw error;
  }
}

/** An image of a prompt. An `<img>` cannot send the token, so the bytes are fetched for it. */
export async function fetchAttachment(
  params: { id: string; prompt: string; n: string },
  signal: AbortSignal,
): Promise<Blob> {
  const headers = { Authorization: `Bearer ${token() ?? ""}` };
  const answer = await fetch(pathOf(routes.attachment, params, {}), {
    headers,
    signal,
    redirect: "error",
    credentials: "omit",
    cache: "no-store",
  });
  if (!answer.ok) throw new Error(`The daemon answered ${answer.status}.`);
  return answer.blob();
}

export function logOut(why: string): void {
  forgetToken();
  live.setState({ login: { is: "out", why } });
}

/** What went wrong, and the next step, in one line. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HoldfastError) return [error.message, error.hint].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}
