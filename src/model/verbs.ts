/** The session verbs: label, effect, and when each is offered. `lifecycle.ts` decides what each may do. */
import type { SessionJson } from "../contract/session.ts";

export interface VerbInfo {
  label: string;
  /** Past participle: "Session ma-1 stopped." */
  done: string;
  /** What happens to processes and work, in a sentence or two. */
  effect: (session: SessionJson) => string;
  /** Whether menus offer it. */
  offered: (session: SessionJson) => boolean;
  /** What the request waits for: the agent running, everything down, or neither. */
  endsWith: "up" | "down" | null;
  /** Runs without a dialog: it needs no input, and stops or moves nothing. */
  immediate: boolean;
  /** Removes the worktree: clients show uncommitted and unpushed work first, and ask. */
  movesWork: boolean;
}

const ownConversation = "starts the agent again in its own conversation";
const kept = "The worktree, branch and conversation are kept.";

/** In the order of the menu. */
export const verbs = {
  rename: verb({
    label: "Rename",
    done: "renamed",
    effect: ({ id }) => `Changes the title. The id ${id}, the processes and the work do not change.`,
    offered: () => true,
    endsWith: null,
  }),
  pin: verb({
    label: "Pin",
    done: "pinned",
    effect: () => "Shows the session first in lists and on the board. Nothing else changes.",
    offered: ({ pinned }) => pinned !== true,
    endsWith: null,
    immediate: true,
  }),
  unpin: verb({
    label: "Unpin",
    done: "unpinned",
    effect: () => "Shows the session in its usual order again. Nothing else changes.",
    offered: ({ pinned }) => pinned === true,
    endsWith: null,
    immediate: true,
  }),
  restore: verb({
    label: "Restore",
    done: "restored",
    effect: ({ trash }) =>
      trash === null
        ? "Starts the agent again in its own conversation. The worktree does not change."
        : `Moves the worktree back from the trash, on its branch, and ${ownConversation}.`,
    offered: (session) => isDown(session) && session.workspace !== "gone",
    endsWith: "up",
  }),
  wake: verb({
    label: "Wake",
    done: "woken",
    effect: () => `Ends the snooze and ${ownConversation}. The worktree does not change.`,
    offered: ({ intent }) => intent.want === "snoozed",
    endsWith: "up",
  }),
  unarchive: verb({
    label: "Unarchive",
    done: "unarchived",
    effect: () => `Takes it out of the archive and ${ownConversation}.`,
    offered: ({ intent }) => intent.want === "archived",
    endsWith: "up",
  }),
  restart: verb({
    label: "Restart agent",
    done: "restarted",
    effect: () =>
      "Stops the agent's process and starts a new one in the same conversation. A running turn is cancelled first. The worktree does not change.",
    offered: ({ kind, intent, processes }) => kind === "chat" && intent.want === "running" && processes.length > 0,
    endsWith: "up",
  }),
  convert: verb({
    label: "Convert",
    done: "converted",
    effect: ({ kind }) =>
      `Stops the ${kind} agent, then continues the conversation as a ${otherKind(kind)} session. The worktree does not change.`,
    offered: ({ role, intent, workspace }) => role !== "shell" && intent.want !== "killed" && workspace === "ready",
    endsWith: "down",
  }),
  stop: verb({
    label: "Stop",
    done: "stopped",
    effect: () => `Stops the session gracefully. ${kept} The next prompt or Restore starts it again.`,
    offered: (session) => session.intent.want === "snoozed" || (session.intent.want === "running" && !isDown(session)),
    endsWith: "down",
  }),
  snooze: verb({
    label: "Snooze",
    done: "snoozed",
    effect: () =>
      `Stops the session gracefully until a time you choose. ${kept} It starts again then, with the next prompt, or with Wake.`,
    offered: ({ intent }) => intent.want === "running" || intent.want === "stopped" || intent.want === "snoozed",
    endsWith: "down",
  }),
  archive: verb({
    label: "Archive",
    done: "archived",
    effect: () =>
      `Stops the session gracefully and moves it to Ended. ${kept} The next prompt or Unarchive starts it again.`,
    offered: ({ intent }) => intent.want !== "archived" && intent.want !== "killed",
    endsWith: "down",
  }),
  kill: verb({
    label: "Kill",
    done: "killed",
    effect: () =>
      "Kills the process tree and moves the worktree to the trash; a ref keeps its commits. The branch and the conversation are kept. Only Restore brings the session back.",
    offered: ({ intent }) => intent.want !== "killed",
    endsWith: "down",
    movesWork: true,
  }),
  delete: verb({
    label: "Delete",
    done: "deleted",
    effect: ({ trash }) =>
      trash === null
        ? "Kills the process tree, moves the worktree to the trash and asks the agent to delete its conversation. The session cannot be restored; its files can, from the trash."
        : "Removes the session permanently and asks the agent to delete its conversation. The session cannot be restored; its files stay in the trash.",
    offered: () => true,
    endsWith: "down",
    movesWork: true,
  }),
};

export type VerbName = keyof typeof verbs;

/** The verbs that menus offer now, in their order. */
export function verbsFor(session: SessionJson): VerbName[] {
  return verbNames.filter((name) => verbs[name].offered(session));
}

const verbNames = Object.keys(verbs).filter((name): name is VerbName => Object.hasOwn(verbs, name));

function verb(info: Omit<VerbInfo, "movesWork" | "immediate"> & { movesWork?: true; immediate?: true }): VerbInfo {
  return { movesWork: false, immediate: false, ...info };
}

export function otherKind(kind: SessionJson["kind"]): SessionJson["kind"] {
  return kind === "chat" ? "terminal" : "chat";
}

/** Down until the user acts. Snoozed and archived sessions have their own verbs. */
function isDown({ intent, status }: SessionJson): boolean {
  if (intent.want === "stopped" || intent.want === "killed") return true;
  return intent.want === "running" && (status === "exited" || status === "failed" || status === "done");
}
