/** What an orchestrator is told at its start: whom it leads, and the commands for it. And that a project has one. */
import type { SessionState } from "./session.ts";

/** Shells that take commands from a terminal. */
const programs = new Set("sh ash bash csh dash elvish fish ksh mksh nu pwsh rbash tcsh xonsh zsh".split(" "));

/** @param start argv of the agent in a terminal; null where it has none. */
export function isShell(
  { role, agent }: Pick<SessionState, "role" | "agent">,
  start: readonly string[] | null = null,
): boolean {
  return role === "shell" || agent === "shell" || (start !== null && isPlainShell(start));
}

/** With a script or `-c` it is a wrapper around something else. */
function isPlainShell([program = "", ...args]: readonly string[]): boolean {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return programs.has(name) && args.every((word) => /^-(?!c$)/.test(word));
}

export interface OrchestratorFacts {
  id: string;
  project: string;
  defaultBranch: string;
  /** The tracker's repository, where the project has one. */
  tracker: string | null;
}

export function orchestratorInstructions({ id, project, defaultBranch, tracker }: OrchestratorFacts): string {
  const issue = tracker === null ? "" : " With an issue's number or URL its title and text become the prompt.";
  return `You are ${id}, the orchestrator of the project ${project}. You do not write its code: you split work into tasks, give each to a worker session, watch them, and report to the person.

Each worker is a coding agent in its own git worktree and branch, started from ${defaultBranch}. Workers do not see each other or you; what one must know stands in its prompt.

Commands (each takes --json, and --help says more):
- holdfast spawn ${project} --prompt "task" [--agent A] [--kind terminal|chat] [--name title]   start a worker${
    tracker === null
      ? ""
      : `
- holdfast spawn ${project} 123                     start a worker for an issue`
  }
- holdfast session ls -p ${project}                 who is there, and in which status
- holdfast session show <id>                        one session: branch, pull request, why it ended
- holdfast session screen <id>                      what its terminal shows now
- holdfast acp history <id> -n 3                    the last turns of a chat session
- holdfast events <id> --json --since N             everything that happened since event N
- holdfast send <id> "text"                         message a worker; prints delivered, typed, queued, unconfirmed or refused
- holdfast send <id> "text" --wait                  the same, and waits for the answer (chat sessions)
${issue === "" ? "" : `\nSpawning:${issue}\n`}
Statuses: working (leave it alone), running (alive, but this agent does not report what it does: read its screen), idle (it has finished its turn: read what it said), needs_input (the user must answer; report which session and what it asks), stuck, failed or exited (say why), and for sessions with a pull request pr_open, ci_failed, review_pending, changes_requested, approved, mergeable, merged.

Rules:
- You may spawn, list, message and read sessions of ${project}, shells excepted. Ending, restoring and deleting sessions, answering permission requests and merging are for a person: ask.
- One task, one worker. Say in its prompt what is wanted, how it is checked, and that it commits on its own branch.
- Do not poll in a tight loop. After spawning, report what you started and wait to be asked, or look again after some minutes.
`;
}

/** Wanted running, and not given up: a launch that failed leaves the place to another. */
export function wantsToRun({ intent, run, workspace }: Pick<SessionState, "intent" | "run" | "workspace">): boolean {
  const failed = run.run === "failed" || (workspace.at === "planned" && workspace.failed !== undefined);
  return intent.want === "running" && !failed;
}

/** The orchestrator that a new one would stand beside: also one that is down and comes back by a word or by its time. */
export function orchestratorOf(sessions: readonly SessionState[], project: string): SessionState | null {
  const held = (session: SessionState): boolean =>
    wantsToRun(session) || session.intent.want === "stopped" || session.intent.want === "snoozed";
  return sessions.find((session) => leads(session, project) && held(session)) ?? null;
}

/** The one that keeps this session, which is down, from coming back as the second of its project. */
export function orchestratorInTheWay(sessions: readonly SessionState[], session: SessionState): SessionState | null {
  if (session.role !== "orchestrator" || wantsToRun(session)) return null;
  const running = (other: SessionState): boolean => other.id !== session.id && wantsToRun(other);
  return sessions.find((other) => leads(other, session.project) && running(other)) ?? null;
}

export function alreadyOrchestrated({ id, project, intent }: SessionState): { message: string; hint: string } {
  const back = { snoozed: "session wake", stopped: "session restore" };
  const verb = intent.want === "snoozed" || intent.want === "stopped" ? back[intent.want] : "attach";
  return {
    message: `${project} already has an orchestrator: ${id}.`,
    hint: `Go on with it (holdfast ${verb} ${id}) or end it first (holdfast session kill ${id}).`,
  };
}

function leads(session: SessionState, project: string): boolean {
  return session.role === "orchestrator" && session.project === project;
}
