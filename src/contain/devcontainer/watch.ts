/**
 * Stops what runs in dev containers: the runtimes stop only the engine's client, and what it started keeps running. A
 * stop also stops the container; leftovers of a crash are found by their labels.
 */
import type { Store } from "../../ports/store.ts";
import type { Logger } from "../../ports/api.ts";
import type { SessionContainers } from "../../ports/containers.ts";
import type { Runtime } from "../../ports/runtime.ts";
import type { SessionId } from "../../contract/ids.ts";
import { isLive } from "../../model/runs.ts";
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
export function watchContainers(services: { store: Store; log: Logger }, load: Load): () => Promise<void> {
  let running: Promise<void> | undefined;
  const check = (): void => {
    if (!services.store.sessions().some(isInContainer)) return;
    running ??= reconcile(services, load)
      .catch((error: unknown) => services.log.warn("cannot check dev containers", { error }))
      .finally(() => (running = undefined));
  };
  const timer = setInterval(check, everyMs);
  timer.unref();
  check();
  const unwanted = (): void => {
    for (const session of [...services.store.sessions(), ...services.store.deleting()]) {
      if (isInContainer(session) && session.run.run === "launching" && session.intent.want !== "running") {
        void load().then((containers) => containers.giveUp(session.id));
      }
    }
  };
  const stop = services.store.onCommit(unwanted);
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
    return isLive(session.run) ? "running" : "down";
  };
  await (await load()).reconcile(state);
}

export function isInContainer({ contain }: Pick<SessionState, "contain">): boolean {
  return contain?.mode === "devcontainer";
}
