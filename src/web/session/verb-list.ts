/** The verbs of a session, as data: what each does to processes and to work, said before it is done. */
import type { SessionJson } from "../../contract/wire.ts";

export const verbNames = [
  "rename",
  "restore",
  "wake",
  "unarchive",
  "restart",
  "convert",
  "stop",
  "snooze",
  "archive",
  "kill",
  "delete",
] as const;
export type VerbName = (typeof verbNames)[number];

export interface VerbInfo {
  label: string;
  /** Said once it is done: "ma-1 …". */
  done: string;
  /** What happens to processes and to work, in one sentence. */
  effect: (session: SessionJson) => string;
  applies: (session: SessionJson) => boolean;
  /** Asks about uncommitted and unpushed work first. */
  movesWork: boolean;
  danger: boolean;
}

export const verbs: Record<VerbName, VerbInfo> = {
  rename: {
    label: "Rename",
    done: "has a new title",
    effect: ({ id }) => `Changes the title. The id ${id}, the processes and the work stay as they are.`,
    applies: () => true,
    movesWork: false,
    danger: false,
  },
  restore: {
    label: "Restore",
    done: "is back",
    effect: ({ trash }) =>
      trash === null
        ? "Starts the agent again, in its own conversation. The worktree is where it was."
        : "Puts the worktree back from the trash, on its branch, and starts the agent again in its own conversation.",
    applies: (session) => isDown(session) && session.workspace !== "gone",
    movesWork: false,
    danger: false,
  },
  wake: {
    label: "Wake",
    done: "is awake",
    effect: () => "Ends the snooze and starts the agent again, in its own conversation. The worktree is where it was.",
    applies: ({ intent }) => intent.want === "snoozed",
    movesWork: false,
    danger: false,
  },
  unarchive: {
    label: "Unarchive",
    done: "is out of the archive",
    effect: () => "Takes it out of the archive and starts the agent again, in its own conversation.",
    applies: ({ intent }) => intent.want === "archived",
    movesWork: false,
    danger: false,
  },
  restart: {
    label: "Restart agent",
    done: "has a fresh agent process",
    effect: () =>
      "Ends the agent's process and starts a new one in the same conversation. The worktree is not touched; a turn in flight is cancelled first.",
    applies: ({ kind, intent, processes }) => kind === "chat" && intent.want === "running" && processes.length > 0,
    movesWork: false,
    danger: false,
  },
  convert: {
    label: "Convert",
    done: "has changed its kind",
    effect: ({ kind }) =>
      `Ends the ${kind} agent, then starts the same conversation as a ${otherKind(kind)} session. The worktree is not touched.`,
    applies: ({ role, intent, workspace }) => role !== "shell" && intent.want !== "killed" && workspace === "ready",
    movesWork: false,
    danger: false,
  },
  stop: {
    label: "Stop",
    done: "is stopped",
    effect: () =>
      "Ends the processes politely. Worktree, branch and conversation are kept. It comes back with the next prompt or with Restore.",
    applies: (session) => session.intent.want === "snoozed" || isWantedUp(session),
    movesWork: false,
    danger: false,
  },
  snooze: {
    label: "Snooze",
    done: "is snoozed",
    effect: () =>
      "Ends the processes politely until a time. Worktree, branch and conversation are kept. It comes back then, with the next prompt, or with Wake.",
    applies: ({ intent }) => intent.want === "running" || intent.want === "stopped" || intent.want === "snoozed",
    movesWork: false,
    danger: false,
  },
  archive: {
    label: "Archive",
    done: "is archived",
    effect: () =>
      "Ends the processes politely and puts the session away among the ended. Worktree, branch and conversation are kept. It comes back with the next prompt or with Unarchive.",
    applies: ({ intent }) => intent.want !== "archived" && intent.want !== "killed",
    movesWork: false,
    danger: false,
  },
  kill: {
    label: "Kill",
    done: "is killed",
    effect: () =>
      "Ends the whole process tree and moves the worktree to the trash, its commits pinned by a ref. The branch and the conversation are kept. Only Restore brings it back.",
    applies: ({ intent }) => intent.want !== "killed",
    movesWork: true,
    danger: true,
  },
  delete: {
    label: "Delete",
    done: "is deleted",
    effect: ({ trash }) =>
      trash === null
        ? "Ends the whole process tree, moves the worktree to the trash and tells the agent to delete its conversation. The session cannot be brought back; its files can, from the trash."
        : "Removes the session for good and tells the agent to delete its conversation. It cannot be brought back; its files stay in the trash.",
    applies: () => true,
    movesWork: true,
    danger: true,
  },
};

/** Those that make sense now, in the order of the menu. */
export function verbsFor(session: SessionJson): VerbName[] {
  return verbNames.filter((name) => verbs[name].applies(session));
}

export function otherKind(kind: SessionJson["kind"]): SessionJson["kind"] {
  return kind === "chat" ? "terminal" : "chat";
}

/** Down, and brought up by nothing but a person's word. Snoozed and archived sessions have verbs of their own. */
export function isDown({ intent, status }: SessionJson): boolean {
  if (intent.want === "stopped" || intent.want === "killed") return true;
  return intent.want === "running" && (status === "exited" || status === "failed" || status === "done");
}

function isWantedUp(session: SessionJson): boolean {
  return session.intent.want === "running" && !isDown(session);
}
