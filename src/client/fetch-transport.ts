/** Carries requests by `fetch`: the dashboard's transport, and any client's over TCP. */
import type { Transport } from "./client.ts";
import type { Signer } from "./signer.ts";

export interface FetchLike {
  (
    url: string,
    init: {
      method: string;
      headers: Record<string, string>;
      body: string | null;
      signal: AbortSignal | null;
      redirect: "error";
      credentials: "omit";
      cache: "no-store";
    },
  ): Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;
}

/** `baseUrl` is empty in a page that the daemon itself served. With a signer each request carries the device's proof. */
export function createFetchTransport(baseUrl: string, fetch: FetchLike, signer?: Signer): Transport {
  return {
    request: async ({ method, path, headers, body, signal }) => {
      // The daemon never redirects; a token must not follow one to somewhere else.
      const fixed = { redirect: "error", credentials: "omit", cache: "no-store" } as const;
      const send = (proof: Record<string, string>) =>
        fetch(`${baseUrl}${path}`, {
          method,
          headers: { ...headers, ...proof },
          body,
          signal: signal ?? null,
          ...fixed,
        });
      const answer = signer === undefined ? await send({}) : await signer.send({ method, path, body }, send);
      return { status: answer.status, text: await answer.text() };
    },
  };
}
