/** Puts the fence of core/fence.ts before every handler: an agent that calls the daemon stays in its own project. */
import { fenceOf, refusal, type Asker } from "../core/fence.ts";
import type { Ask, Handlers } from "../ports/commands.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { RouteName } from "../protocol/http.ts";
import { asSessionId } from "../protocol/ids.ts";
import type { Parts } from "./parts.ts";

const prefix = "session:";

export function fenced(parts: Pick<Parts, "store">, handlers: Handlers): Handlers {
  const entries = Object.entries(handlers) as [keyof Handlers, (ask: Ask) => unknown][];
  return Object.fromEntries(
    entries.map(([name, handler]) => [
      name,
      (ask: Ask) => (ask.actor.startsWith(prefix) ? asAgent(parts, name, ask, handler) : handler(ask)),
    ]),
  ) as Handlers;
}

async function asAgent(
  parts: Pick<Parts, "store">,
  route: RouteName,
  ask: Ask,
  handler: (ask: Ask) => unknown,
): Promise<unknown> {
  const session = parts.store.session(asSessionId(ask.actor.slice(prefix.length)));
  // A shell is a person's own; a session that is gone speaks for nobody.
  if (session?.role === "shell") return handler(ask);
  if (session === null) throw new HoldfastError("forbidden", `There is no session ${ask.actor.slice(prefix.length)}.`);
  const asker: Asker = { id: session.id, project: session.project };
  const why = refusal(asker, route, targetOf(parts, route, ask));
  if (why !== null) {
    throw new HoldfastError("forbidden", why, { hint: "Ask the person to run it outside of the session." });
  }
  const answer = await handler(ask);
  return fenceOf(route) === "list" ? ofProject(answer as { id: string; project?: string }[], asker) : answer;
}

function targetOf(
  parts: Pick<Parts, "store">,
  route: RouteName,
  ask: Ask,
): { project?: string | undefined; role?: string | undefined } | null {
  const fence = fenceOf(route);
  if (fence === "spawn") {
    const { project, role } = ask.body as { project?: string; role?: string };
    return { project, role };
  }
  if (fence === "list") return { project: ask.query["project"] };
  // An id that nobody has is told by the handler, with the nearest one.
  return fence === "session" ? (parts.store.session(asSessionId(ask.params["id"] ?? "")) ?? null) : null;
}

function ofProject<T extends { id: string; project?: string }>(list: T[], { project }: Asker): T[] {
  return list.filter((one) => (one.project ?? one.id) === project);
}
