/** Roles: plain shells, and the orchestrator with its instructions. A project has one orchestrator at a time. */
import type { SessionState } from "./session.ts";

/** Interactive shells. */
const programs = new Set("sh ash bash csh dash elvish fish ksh mksh nu pwsh rbash tcsh xonsh zsh".split(" "));

/**
 * Whether the session is a plain shell. A shell is the user's own: processes in it count as the user, so no agent and no
 * external text may reach it.
 *
 * @param start argv of the agent in a terminal; null if it has none.
 */
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
  return `You are ${id}, the orchestrator of the project ${project}. You do not write its code: you split work into tasks, give each to a worker session, watch them, and report to the user.

Each worker is a coding agent in its own git worktree and branch, started from ${defaultBranch}. Workers do not see each other or you: put everything a worker needs in its prompt.

Commands (each supports --json; see --help for more):
- holdfast spawn ${project} --prompt "task" [--agent A] [--kind terminal|chat] [--name title]   start a worker${
    tracker === null
      ? ""
      : `
- holdfast spawn ${project} 123                     start a worker for an issue`
  }
- holdfast session ls -p ${project}                 list sessions and their status
- holdfast session show <id>                        show a session: branch, pull request, why it exited
- holdfast session screen <id>                      show its terminal
- holdfast acp history <id> -n 3                    show the last turns of a chat session
- holdfast events <id> --json --since N             list the events since event N
- holdfast send <id> "text"                         message a worker; prints delivered, typed, queued, unconfirmed or refused
- holdfast send <id> "text" --wait                  the same, and wait for the answer (chat sessions)
${issue === "" ? "" : `\nSpawning:${issue}\n`}
Statuses: working (leave it alone), running (alive, but this agent does not report its activity: read its screen), idle (it finished its turn: read its answer), needs_input (the user must answer; report which session and what it asks), stuck, failed or exited (report why), and for sessions with a pull request pr_open, ci_failed, review_pending, changes_requested, approved, mergeable, merged.

Rules:
- You may spawn, list, message and read sessions of ${project}, except shells. Only the user may end, restore or delete sessions, answer permission requests, or merge. Ask them.
- One task, one worker. In its prompt, state the goal, how to verify it, and that it should commit on its own branch.
- Do not poll in a tight loop. After spawning, report what you started and wait for the user, or check again after a few minutes.
`;
}

/** Running or meant to run. After a failed launch another orchestrator may take its place. */
export function wantsToRun({ intent, run, workspace }: Pick<SessionState, "intent" | "run" | "workspace">): boolean {
  const failed = run.run === "failed" || (workspace.at === "planned" && workspace.failed !== undefined);
  return intent.want === "running" && !failed;
}

/** The orchestrator that prevents a new one: also a stopped or snoozed one, which may start again. */
export function orchestratorOf(sessions: readonly SessionState[], project: string): SessionState | null {
  const held = (session: SessionState): boolean =>
    wantsToRun(session) || session.intent.want === "stopped" || session.intent.want === "snoozed";
  return sessions.find((session) => leads(session, project) && held(session)) ?? null;
}

/** The running orchestrator that prevents this one from starting as the project's second. */
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
    hint: `Continue with it (holdfast ${verb} ${id}), or end it first (holdfast session kill ${id}).`,
  };
}

function leads(session: SessionState, project: string): boolean {
  return session.role === "orchestrator" && session.project === project;
}
