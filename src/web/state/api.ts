/** Calls to the daemon that served this page. A token that it no longer knows sends the person back to the login. */
import { createClient, type CallableRoute, type CallOptions } from "../../client/client.ts";
import { createFetchTransport } from "../../client/fetch-transport.ts";
import { HoldfastError } from "../../protocol/error.ts";
import type { Answers } from "../../protocol/wire.ts";
import { forgetToken, token } from "./login.ts";
import { live } from "./live.ts";

const client = createClient({ transport: createFetchTransport("", (url, init) => fetch(url, init)), token });

export async function call<R extends CallableRoute>(route: R, options?: CallOptions<R>): Promise<Answers[R]> {
  try {
    return await client.call(route, options);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "unauthorized" && route !== "login") logOut(error.message);
    throw error;
  }
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
