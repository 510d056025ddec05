/** Puts the fence of core/fence.ts before every route: an agent that calls the daemon stays in its own project. */
import { fenceOf, refusal, type Asker } from "../core/fence.ts";
import type { Ask, Guard, Handlers } from "../ports/commands.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { RouteName } from "../protocol/http.ts";
import { asSessionId } from "../protocol/ids.ts";
import type { Parts } from "./parts.ts";

const prefix = "session:";

type Asked = Pick<Ask, "actor" | "query"> & Partial<Pick<Ask, "params" | "body">>;

export function fenced(parts: Pick<Parts, "store">, handlers: Handlers): Handlers {
  const entries = Object.entries(handlers) as [keyof Handlers, (ask: Ask) => unknown][];
  return Object.fromEntries(
    entries.map(([name, handler]) => [
      name,
      (ask: Ask) => (ask.actor.startsWith(prefix) ? asAgent(parts, name, ask, handler) : handler(ask)),
    ]),
  ) as Handlers;
}

/** The same for what http answers by itself: streams, and the login link, which would make a person of an agent. */
export function guardOf(parts: Pick<Parts, "store">): Guard {
  return (route, ask) => {
    if (ask.actor.startsWith(prefix)) check(parts, route, ask);
  };
}

async function asAgent(
  parts: Pick<Parts, "store">,
  route: RouteName,
  ask: Ask,
  handler: (ask: Ask) => unknown,
): Promise<unknown> {
  const asker = check(parts, route, ask);
  const answer = await handler(ask);
  return asker !== null && fenceOf(route) === "list"
    ? ofProject(answer as { id: string; project?: string }[], asker)
    : answer;
}

/** Throws where it may not. Null for a shell, which is a person's own. */
function check(parts: Pick<Parts, "store">, route: RouteName, ask: Asked): Asker | null {
  const session = parts.store.session(asSessionId(ask.actor.slice(prefix.length)));
  if (session?.role === "shell") return null;
  // A session that is gone speaks for nobody.
  if (session === null) throw new HoldfastError("forbidden", `There is no session ${ask.actor.slice(prefix.length)}.`);
  const asker: Asker = { id: session.id, project: session.project };
  const why = refusal(asker, route, targetOf(parts, route, ask));
  if (why === null) return asker;
  throw new HoldfastError("forbidden", why, { hint: "Ask the person to run it outside of the session." });
}

function targetOf(parts: Pick<Parts, "store">, route: RouteName, ask: Asked): Parameters<typeof refusal>[2] {
  switch (fenceOf(route)) {
    case "spawn": {
      const { project, role } = ask.body as { project?: string; role?: string };
      return { project, role };
    }
    case "list":
      return { project: ask.query["project"] };
    case "follow":
      return parts.store.session(asSessionId(ask.query["session"] ?? ""));
    case "session":
    case "own":
      // An id that nobody has is told by the handler, with the nearest one.
      return parts.store.session(asSessionId(ask.params?.["id"] ?? ""));
    case "open":
    case null:
      return null;
  }
}

function ofProject<T extends { id: string; project?: string }>(list: T[], { project }: Asker): T[] {
  return list.filter((one) => (one.project ?? one.id) === project);
}
