/** Puts the table of contract/agent-rights.ts before every route: an agent that calls the daemon stays in its own project. */
import { refusal, rightOf, spawnRefusal, type Asker, type Target } from "./agent-rights.ts";
import { agentMessage } from "./agent-message.ts";
import { isShell } from "../model/roles.ts";
import type { Ask, Guard, Handlers } from "../ports/api.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/command.ts";
import { HoldfastError } from "../contract/error.ts";
import type { RouteName } from "../contract/http.ts";
import { asSessionId } from "../contract/ids.ts";
import { includes, rightWords, type Right } from "../contract/rights.ts";
import type { Actor, SessionState } from "../model/session.ts";
import { isShellSession, startOf } from "../supervisor/callers/callers.ts";
import type { Services } from "../supervisor/services.ts";

const prefix = "session:";

type Known = Pick<Services, "store" | "agents">;
type Asked = Pick<Ask, "actor" | "query"> & Partial<Pick<Ask, "params">>;

export function fenced(parts: Known, handlers: Handlers): Handlers {
  const entries = Object.entries(handlers) as [keyof Handlers, (ask: Ask) => unknown][];
  return Object.fromEntries(
    entries.map(([name, handler]) => [
      name,
      (ask: Ask) => (ask.actor.startsWith(prefix) ? asAgent(parts, name, ask, handler) : handler(ask)),
    ]),
  ) as Handlers;
}

/** The same for what http answers by itself: streams, and the login link, which would make a person of an agent. */
export function guardOf(parts: Known): Guard {
  return (route, ask) => {
    if (ask.actor.startsWith(prefix)) check(parts, route, ask);
  };
}

/** The agent that asks; null for the person, also in a shell, and for what Holdfast does by itself. */
export function askingAgent(parts: Known, actor: Actor): SessionState | null {
  if (!actor.startsWith(prefix)) return null;
  const id = actor.slice(prefix.length);
  const session = parts.store.session(asSessionId(id));
  // A session that is gone speaks for nobody.
  if (session === null) throw new HoldfastError("forbidden", `Unknown session: ${id}`);
  return isShellSession(parts, session) ? null : session;
}

/**
 * A spawn as an agent may ask for it: what it may not have is refused or taken away here, and nowhere else. The task comes
 * from an agent, and says so.
 *
 * @param wish what the request comes to with the project's defaults.
 */
export function clampSpawn(
  parts: Known,
  request: SpawnRequest,
  wish: Pick<SessionState, "role" | "agent">,
  actor: Actor,
): SpawnRequest {
  const agent = askingAgent(parts, actor);
  if (agent === null) return request;
  const start = parts.agents.of({ project: request.project, agent: wish.agent })?.terminal?.start ?? null;
  const isShellWish = isShell(wish, start);
  const why = spawnRefusal(agent, {
    role: wish.role,
    isShell: isShellWish,
    resume: request.resume === true,
    from: request.base !== undefined || request.branch !== undefined,
  });
  if (why !== null) throw refused(why);
  const { prompt } = request;
  return prompt === undefined || prompt === "" ? request : { ...request, prompt: agentMessage(agent.id, prompt) };
}

/** Throws where an issue's text would be typed into a shell, which would run it. */
export function refuseIssueInShell(
  parts: Pick<Services, "agents">,
  settings: Pick<ProjectSettings, "id" | "tracker">,
  { issue }: Pick<SpawnRequest, "issue">,
  { role, kind, agent }: Pick<SessionState, "role" | "kind" | "agent">,
): void {
  // In any other role, or without a tracker, nobody reads the issue.
  if (issue === undefined || role !== "worker" || settings.tracker === null) return;
  if (!isShell({ role, agent }, startOf(parts, { project: settings.id, agent, kind }))) return;
  throw new HoldfastError("invalid", `The agent ${agent} is a shell, which would run the text of issue ${issue}.`, {
    hint: "Choose another agent with --agent, or leave out the issue. Nothing was created.",
  });
}

/** The right that a device needs to talk to a session: a shell runs every word. */
export function promptRight(parts: Known, session: SessionState): Right {
  return isShellSession(parts, session) ? "all" : "answer";
}

/** Throws where a device may not talk to this session. */
export function checkMayPrompt(parts: Known, session: SessionState, { device }: Pick<Ask, "device">): void {
  if (device === undefined || includes(device.rights, promptRight(parts, session))) return;
  throw new HoldfastError("forbidden", `${session.id} is a shell; this device ${rightWords[device.rights]}.`, {
    hint: `On a device with all rights, change it under Settings, Devices. Or run \`holdfast device rights ${device.id} all\`.`,
  });
}

/** A prompt's text as the session gets it: an agent's is marked, the person's own words are left alone. */
export function promptText(parts: Known, text: string, actor: Actor): string {
  const agent = askingAgent(parts, actor);
  return agent === null ? text : agentMessage(agent.id, text);
}

async function asAgent(parts: Known, route: RouteName, ask: Ask, handler: (ask: Ask) => unknown): Promise<unknown> {
  const asker = check(parts, route, ask);
  const answer = await handler(ask);
  return asker !== null && rightOf(route) === "list" ? visible(parts, answer as Listed[], asker) : answer;
}

/** Throws where it may not. */
function check(parts: Known, route: RouteName, ask: Asked & Partial<Pick<Ask, "body">>): Asker | null {
  const asker = askingAgent(parts, ask.actor);
  if (asker === null) return null;
  const why = refusal(asker, route, targetOf(parts, route, ask));
  if (why === null) return asker;
  throw refused(why);
}

function refused(why: string): HoldfastError {
  return new HoldfastError("forbidden", why, { hint: "Ask the person to run it outside of the session." });
}

function targetOf(parts: Known, route: RouteName, ask: Asked & Partial<Pick<Ask, "body">>): Target | null {
  const right = rightOf(route);
  switch (right) {
    case "spawn":
      return { project: (ask.body as { project?: string }).project };
    case "list":
      return { project: ask.query["project"] };
    case "follow":
      return sessionTarget(parts, ask.query["session"]);
    case "read":
    case "message":
    case "own":
      // An unknown id is reported by the handler, with the nearest one.
      return sessionTarget(parts, ask.params?.["id"]);
    case "daemon":
    case null:
      return null;
    default:
      return right satisfies never;
  }
}

function sessionTarget(parts: Known, id: string | undefined): Target | null {
  const session = parts.store.session(asSessionId(id ?? ""));
  return session === null
    ? null
    : {
        id: session.id,
        project: session.project,
        isShell: isShellSession(parts, session),
        ...(session.contain === undefined ? {} : { contain: session.contain }),
      };
}

type Listed = { id: string; project?: string };

function visible(parts: Known, list: Listed[], { project }: Asker): Listed[] {
  return list.filter((one) => {
    if (one.project === undefined) return one.id === project;
    return one.project === project && sessionTarget(parts, one.id)?.isShell !== true;
  });
}
