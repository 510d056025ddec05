/**
 * Stops what runs in dev containers: the runtimes stop only the engine's client, and what it started keeps running. A
 * stop also stops the container; leftovers of a crash are found by their labels.
 */
import type { Store } from "../../ports/store.ts";
import type { Logger } from "../../ports/api.ts";
import type { SessionContainers } from "../../ports/containers.ts";
import type { Runtime } from "../../ports/runtime.ts";
import type { SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";

const everyMs = 15_000;

type Load = () => Promise<SessionContainers>;

/** Extends a runtime's stop to the container. */
export function endingContainers(runtime: Pick<Runtime, "stop">, load: Load): void {
  const stop = runtime.stop.bind(runtime);
  runtime.stop = async (session, options) => {
    const stopped = await stop(session, options);
    if (!isInContainer(session)) return stopped;
    const left = await (await load()).stop(session.id, options.force);
    return { ...stopped, remaining: [...stopped.remaining, ...left] };
  };
}

/** Checks containers and their launches while sessions have any. Returns how to stop. */
export function watchContainers(parts: { store: Store; log: Logger }, load: Load): () => Promise<void> {
  let running: Promise<void> | undefined;
  const look = (): void => {
    if (!parts.store.sessions().some(isInContainer)) return;
    running ??= reconcile(parts, load)
      .catch((error: unknown) => parts.log.warn("cannot check dev containers", { error }))
      .finally(() => (running = undefined));
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  look();
  const unwanted = (): void => {
    for (const session of [...parts.store.sessions(), ...parts.store.deleting()]) {
      if (isLaunching(session) && session.intent.want !== "running") {
        void load().then((containers) => containers.giveUp(session.id));
      }
    }
  };
  const stop = parts.store.onCommit(unwanted);
  return async () => {
    stop();
    clearInterval(timer);
    await running;
  };
}

async function reconcile({ store }: { store: Store }, load: Load): Promise<void> {
  const state = (id: SessionId): "running" | "down" | "deleted" => {
    const session = store.session(id);
    // An unknown session may belong to another database: leave its container alone.
    if (session === null) return "running";
    return session.run.run === "up" || session.run.run === "launching" ? "running" : "down";
  };
  await (await load()).reconcile(state);
}

function isLaunching(session: SessionState): boolean {
  return isInContainer(session) && session.run.run === "launching";
}

export function isInContainer({ contain }: Pick<SessionState, "contain">): boolean {
  return contain?.mode === "devcontainer";
}
