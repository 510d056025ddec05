/**
 * A database that is older than its home: a backup was restored, or its last writes were lost. Launches and trash entries
 * that it never named are evidence of what the user requested since, and are recorded instead of undone.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { startedAt } from "../base/pid.ts";
import { readProcessTable } from "../base/process-tree.ts";
import { policyActors } from "../model/lifecycle.ts";
import type { Observation } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { TrashEntry, Worktrees } from "../ports/worktree.ts";
import type { FactEvent } from "../contract/event.ts";
import { asSessionId, kinds, type LaunchId, type ProjectId, type SessionId } from "../contract/ids.ts";
import { type SessionState } from "../model/session.ts";
import { commitPolicyVerb } from "./apply-verb.ts";
import type { Services } from "./services.ts";
import { workspacePath } from "./worktrees.ts";
import { conversationKnown, type Outcome } from "./record.ts";

/** Far more launches than a session has; each is a short event. */
const launchesRead = 10_000;
const charsRead = 64 * 1024 * 1024;

/** Whether the record contains the intent that moved a worktree to the trash. Entries of earlier builds do not name it. */
export function isRecordedEnd(store: Store, session: SessionState, { trashedAt, intent }: TrashEntry): boolean {
  if (intent === undefined) return trashedAt <= session.intent.at;
  const [event] = store.events(session.id, intent.seq - 1, 1);
  return event?.type === "session.intent" && event.at === intent.at;
}

/** Whether the record ever named this launch of the session. */
export function isRecordedLaunch(store: Store, session: SessionId, launch: LaunchId): boolean {
  const types = ["launch.started", "launch.adopted"] as const;
  const events = store.someEvents(session, { types, limit: launchesRead, chars: charsRead, newest: true });
  return events.some((event) => "launch" in event && event.launch === launch);
}

/**
 * Records a launch that the record never named, dead or alive: from then on it is treated like any other. A launch that
 * started after the intent was written shows that the intent changed since.
 */
export async function adoptUnrecorded(
  services: Pick<Services, "store" | "runtimes" | "workspaces" | "log">,
  session: SessionState,
  seen: Observation,
): Promise<Outcome> {
  if (seen.seen.is !== "known") return "done";
  const { launch, agent, agentSessionId } = seen.seen.value;
  const since = agent.alive ? (startedAt(agent.identity) ?? 0) : 0;
  const found = services.workspaces.exists(session.workspacePath) === true;
  // First the intent: the next daemon would stop a launch recorded under an intent to end.
  const verb = { verb: "recover-running", startedAt: since } as const;
  const { intent } = await commitPolicyVerb(services, session, verb, policyActors.recovery);
  const restored = intent.seq !== session.intent.seq && intent.by === policyActors.recovery;
  const events = (state: SessionState): FactEvent[] => {
    const { workspacePath: path, branch, branchCreated, base } = state;
    return [
      ...(state.workspace.at !== "ready" && agent.alive && found
        ? [{ type: "workspace.ready" as const, path, branch, branchCreated, base }]
        : []),
      ...(state.turn.turn === "open"
        ? [{ type: "turn.ended" as const, stopReason: "orphaned_at_restart", promptId: state.turn.prompt }]
        : []),
      ...conversationKnown(state, agentSessionId),
      { type: "launch.adopted", launch, agent: agent.alive ? agent.identity : null },
      { type: "notice", level: "warn", text: noticeOf(session, restored) },
    ];
  };
  if (session.kind === "chat") await services.runtimes.chat.adoptUnrecorded(session, launch, events);
  else await services.store.commit(session.id, events);
  services.log.warn("found a launch that the database does not know; the database is older than its home", {
    session: session.id,
    launch,
  });
  return "done";
}

function noticeOf({ id, intent }: SessionState, restored: boolean): string {
  const older = "The database is older than this session's agent: a backup was restored, or its last writes were lost.";
  if (!restored) return `${older} What happened in between is missing here.`;
  return `${older} It recorded the session as ${intent.want}, but the agent was started later, so it keeps running. End it again with: holdfast session kill ${id}`;
}

/** Unless the user decided otherwise meanwhile. */
export async function stayEnded(
  services: Pick<Services, "store" | "workspaces">,
  session: SessionState,
): Promise<Outcome> {
  const entries = (await services.workspaces.listTrash()).filter((entry) => entry.session === session.id);
  const entry = entries.toSorted((a, b) => a.trashedAt - b.trashedAt).at(-1);
  if (entry === undefined) return "done";
  const { id: trash, ref, uncommitted, unpushed } = entry;
  const text = `The database is older than this session's end: its worktree was moved to the trash later, so it stays ended. To restore it: holdfast session restore ${session.id}`;
  const found: FactEvent[] = [
    { type: "workspace.trashed", trash, ref, uncommitted, unpushed: unpushed.length },
    { type: "notice", level: "warn", text },
  ];
  const verb = { verb: "recover-end", intent: session.intent.seq, found } as const;
  await commitPolicyVerb(services, session, verb, policyActors.recovery);
  return "done";
}

/** Before the first observation: a session converted since the record was written has an agent of the other kind. */
export async function recordConversions(services: Pick<Services, "store" | "runtimes">): Promise<void> {
  const sessions = [...services.store.sessions(), ...services.store.deleting()];
  for (const kind of kinds) {
    const others = sessions.filter((session) => session.kind !== kind);
    const left = services.runtimes[kind].leftovers(others);
    await Promise.all(others.filter(({ id }) => left.has(id)).map((one) => recordConversion(services, one, kind)));
  }
}

async function recordConversion(
  services: Pick<Services, "store" | "runtimes">,
  session: SessionState,
  other: SessionState["kind"],
): Promise<void> {
  const observed = (await services.runtimes[other].observe([{ ...session, kind: other }])).get(session.id)?.seen;
  if (observed?.is !== "known") return;
  if (isRecordedLaunch(services.store, session.id, observed.value.launch)) return;
  const { recovery } = policyActors;
  await services.store.commit(session.id, () => [{ type: "session.converted", kind: other, by: recovery }]);
}

const taken = new WeakMap<Worktrees, Promise<ReadonlySet<string>>>();

/**
 * Ids that a new session must not reuse although the database does not know them: files or processes of such a session
 * exist. The slow part is read once per daemon: only this daemon adds to its home.
 */
export async function takenIds(
  services: Pick<Services, "runtimes" | "workspaces" | "worktrees" | "home">,
  project: ProjectId,
): Promise<(id: string) => boolean> {
  let found = taken.get(services.workspaces);
  if (found === undefined) taken.set(services.workspaces, (found = traces(services)));
  const ids = await found;
  return (id) =>
    ids.has(id) ||
    services.runtimes.terminal.hasFiles(asSessionId(id)) ||
    services.runtimes.chat.hasFiles(asSessionId(id)) ||
    existsSync(workspacePath(services, project, asSessionId(id)));
}

async function traces(services: Pick<Services, "runtimes" | "workspaces" | "home">): Promise<ReadonlySet<string>> {
  const [trash, running] = await Promise.all([
    services.workspaces.listTrash(),
    services.runtimes.terminal.running().catch(() => []),
  ]);
  return new Set<string>([...trash.map(({ session }) => session), ...running, ...(await marked(services.home))]);
}

/** Sessions of this home that running processes name in their environment. */
async function marked(home: string): Promise<string[]> {
  const { markers } = await readProcessTable("HOLDFAST_SESSION");
  return [...markers].flatMap(([pid, session]) => (isOfHome(pid, home) ? [session] : []));
}

function isOfHome(pid: number, home: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const named = environment.find((entry) => entry.startsWith("HOLDFAST_HOME="))?.slice("HOLDFAST_HOME=".length);
    return named !== undefined && (named === home || realpathSync(named) === realpathSync(home));
  } catch {
    return false;
  }
}
