/** Carries requests by `fetch`: the dashboard's transport, and any client's over TCP. */
import type { Transport } from "./client.ts";

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
  ): Promise<{ status: number; text(): Promise<string> }>;
}

/** `baseUrl` is empty in a page that the daemon itself served. */
export function createFetchTransport(baseUrl: string, fetch: FetchLike): Transport {
  return {
    request: async ({ method, path, headers, body, signal }) => {
      // The daemon never redirects; a token must not follow one to somewhere else.
      const fixed = { redirect: "error", credentials: "omit", cache: "no-store" } as const;
      const init = { method, headers, body, signal: signal ?? null, ...fixed };
      const answer = await fetch(`${baseUrl}${path}`, init);
      return { status: answer.status, text: await answer.text() };
    },
  };
}
