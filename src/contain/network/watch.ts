/**
 * Keeps the network of contained sessions working while their agents run: restarts a proxy that died, and reports
 * blocked hosts in the session, to show why an agent cannot download something.
 */
import type { Store } from "../../ports/store.ts";
import type { Logger } from "../../ports/api.ts";
import type { ContainedNetwork, BlockedHost } from "../../ports/network.ts";
import type { FactEvent } from "../../contract/event.ts";
import { isLive } from "../../model/runs.ts";
import type { SessionState } from "../../model/session.ts";
import { endpointText } from "./allow-list.ts";

const everyMs = 3_000;

export function watchNetwork(
  services: { store: Store; log: Logger },
  load: () => Promise<ContainedNetwork>,
  wasUsed: () => boolean,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    const listed = services.store.sessions().filter(isListed);
    if (listed.length === 0) return;
    running ??= check(services, listed, load)
      .catch((error: unknown) => services.log.warn("cannot check the network of contained sessions", { error }))
      .finally(() => (running = undefined));
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
    // Its sessions may all be deleted by now.
    if (!wasUsed()) return;
    await (await load()).close({ idle: !services.store.sessions().some((one) => isListed(one) && isLive(one.run)) });
  };
}

async function check(
  services: { store: Store },
  listed: readonly SessionState[],
  load: () => Promise<ContainedNetwork>,
): Promise<void> {
  const network = await load();
  if (listed.some(({ run }) => isLive(run))) await network.ensure();
  for (const { id } of listed) {
    const { blocked, full, reported } = network.news(id);
    if (blocked.length === 0) continue;
    await services.store.commit(id, () => notices(blocked, full));
    reported();
  }
}

function isListed({ contain }: SessionState): boolean {
  return contain?.mode === "worktree" && typeof contain.network === "object";
}

export function notices(blocked: readonly BlockedHost[], full: boolean): FactEvent[] {
  const texts = blocked.map(blockedNotice);
  if (full) texts.push("Network: blocked more hosts than are listed here.");
  return texts.map((text) => ({ type: "notice", level: "warn", text }));
}

function blockedNotice({ host, port, why }: BlockedHost): string {
  const endpoint = endpointText(host, port);
  if (why === "too-many-connections") {
    return "Network: blocked further connections; this session has too many open.";
  }
  return why === "private"
    ? `Network: blocked ${endpoint}, which is in a private network. To allow it, list it with its port: ${endpoint}`
    : `Network: blocked ${endpoint}, which is not in this session's allow list.`;
}
