/** Calls to the daemon that served this page, signed with this browser's key. */
import { createClient, pathOf, type CallableOperation, type CallOptions, type Client } from "../../client/client.ts";
import { createFetchTransport } from "../../client/fetch-transport.ts";
import { createSigner } from "../../client/signer.ts";
import { HoldfastError } from "../../contract/error.ts";
import { routes } from "../../contract/http.ts";
import type { Output } from "../../contract/operations.ts";
import { deviceKey, hasOtherKey } from "./device-key.ts";
import { forgetEverything } from "./forget.ts";
import { live } from "./live.ts";

const send = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);
const unsigned = createClient({ transport: createFetchTransport("", send) });
const signer = createSigner({
  key: deviceKey,
  origin: () => location.origin,
  challenge: () => unsigned.call("challenge"),
});
const client = createClient({ transport: createFetchTransport("", send, signer) });

/** For what comes before a login. */
export const callUnsigned: Client["call"] = (route, options) => unsigned.call(route, options);
/** The subprotocol that lets a WebSocket of this page in. */
export const prove = (path: string): Promise<string | null> => signer.protocolFor(path);

export const doubtChallenge = (): void => signer.doubt();

export async function call<R extends CallableOperation>(route: R, options?: CallOptions<R>): Promise<Output<R>> {
  try {
    return await client.call(route, options);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "logged-out") await refused();
    throw error;
  }
}

async function refused(): Promise<void> {
  const used = (await deviceKey())?.id ?? null;
  // An answer that comes late must neither talk over why this browser was logged out, nor end a login that came since.
  if (live.getState().login.is === "out" || (await hasOtherKey(used))) return;
  await logOut("This browser's login is not valid any more: it has expired or was revoked.");
}

/** An image of a prompt. An `<img>` cannot sign, so the bytes are fetched for it. */
export async function fetchAttachment(
  params: { id: string; prompt: string; n: string },
  signal: AbortSignal,
): Promise<Blob> {
  const path = pathOf(routes.attachment, params, {});
  const fixed = { signal, redirect: "error", credentials: "omit", cache: "no-store" } as const;
  const answer = await signer.send({ method: "GET", path, body: null }, (headers) => send(path, { ...fixed, headers }));
  if (!answer.ok) throw new Error(`The daemon answered ${answer.status}.`);
  return answer.blob();
}

let channel: BroadcastChannel | undefined;

/** Other tabs of this browser share its key and its storage. */
export function tabs(): BroadcastChannel {
  return (channel ??= new BroadcastChannel("holdfast"));
}

/** `device`: the one that was logged out; a tab that hears of it late may have another by then. */
export type TabMessage = { loggedOut: string; device: string | null; asked: boolean } | { loggedIn: true };

export function tellTabs(message: TabMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  tabs().postMessage(message);
}

/** `asked`: by the person, in this tab; a refusal that another tab gets for it says less. */
export async function logOut(why: string, asked = false): Promise<void> {
  const device = (await deviceKey())?.id ?? null;
  leave(why);
  tellTabs({ loggedOut: why, device, asked });
}

/** In this tab. What it shows is gone before its storage is cleared, or it would save itself again. */
export function leave(why: string): void {
  live.setState({ login: { is: "out", why }, sessions: new Map(), loaded: false, device: null });
  setTimeout(() => void forgetEverything());
}

/** What went wrong, and the next step, in one line. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HoldfastError) return [error.message, error.hint].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}
