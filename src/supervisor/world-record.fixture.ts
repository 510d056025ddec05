/** The durable half of the simulated world: its sessions, their records, and the verbs of users and policies. */
import type { SessionEvent } from "../contract/event.ts";
import {
  asPromptId,
  asSessionId,
  type ExitStatus,
  type Kind,
  type LaunchId,
  type PromptId,
  type Want,
} from "../contract/ids.ts";
import { reduce } from "../model/reduce.ts";
import type { SessionState } from "../model/session.ts";
import { applyVerb, policyActors, type Verb } from "../model/lifecycle.ts";
import { created } from "./facts.fixture.ts";

export interface Process {
  /** A runtime sees its own kind alone. */
  kind: Kind;
  launch: LaunchId;
  alive: boolean;
  exit: ExitStatus | null;
  /** A stop of ours ended it. */
  stopped?: boolean;
  conversation: string;
  /** A permission or question is open. */
  asking: boolean;
  /** Survives this many stops. */
  stubborn: number;
  startedAt: number;
}

export type Sight = "clear" | "runtime-unknown" | "disk-unknown" | "blind";
export type LaunchOutcome = "works" | "fails" | "dies";

export interface Sim {
  state: SessionState;
  events: SessionEvent[];
  processes: Process[];
  disk: { path: "none" | "half" | "whole"; trash: boolean };
  /** The intent that moved it there. */
  trashedBy: SessionEvent | null;
  /** A backup of the record. */
  kept: Pick<Sim, "state" | "events" | "wanted"> | null;
  /** A command that makes the worktree runs; it outlives the daemon. */
  making: boolean;
  /** Whether there ever was a whole worktree: from then on it must be somewhere. */
  worked: boolean;
  typed: Map<PromptId, number>;
  bootOf: Map<LaunchId, number>;
  sight: Sight;
  nextLaunch: LaunchOutcome;
  canResume: boolean;
  /** The last word was kill or delete: whatever is written afterwards, it stays that way. */
  over: boolean;
  /** What the last verb that was taken asked for. Nothing but another verb may change it. */
  wanted: Want;
  /** A conversation that the agent was asked to delete. */
  discarded: string | null;
  /** The launch that is to be replaced; known to the daemon alone. */
  restart: LaunchId | null;
}

/** Every verb there is, with those that policies act by. `restart` changes no intent. */
export const verbNames = [
  "stop",
  "snooze",
  "wake",
  "archive",
  "unarchive",
  "kill",
  "delete",
  "restore",
  "prompt",
  "convert",
  "convert-fresh",
  "idle-stop",
  "halt",
  "end-snooze",
  "cleanup",
  "restart",
] as const;
export type VerbName = (typeof verbNames)[number];

/** A verb with what was true when it was planned: a policy may look long before it writes. */
export type Planned = Verb | { verb: "restart"; launch: LaunchId | null };

const actors: Partial<Record<Planned["verb"], string>> = {
  "idle-stop": policyActors.idleStop,
  "end-snooze": policyActors.snoozeTimer,
  cleanup: policyActors.cleanup,
};

export class WorldRecord {
  now = 1_000_000;
  boot = 1;
  tmuxServer = true;
  readonly sims: Sim[] = [];
  protected minted = 0;

  spawn(kind: "terminal" | "chat", canResume: boolean): void {
    const id = asSessionId(`ma-${this.sims.length + 1}`);
    const state = reduce(null, { ...created, id, kind, seq: 1, at: this.now });
    this.sims.push({
      state,
      events: [created],
      processes: [],
      disk: { path: "none", trash: false },
      trashedBy: null,
      kept: null,
      making: false,
      worked: false,
      typed: new Map(),
      bootOf: new Map(),
      sight: "clear",
      nextLaunch: "works",
      canResume,
      over: false,
      wanted: { want: "running" },
      discarded: null,
      restart: null,
    });
  }

  /** One transaction; the change looks at the state as it is now. */
  commit(sim: Sim, change: (state: SessionState) => readonly SessionEvent[]): void {
    for (const event of change(sim.state)) {
      sim.state = reduce(sim.state, { ...event, seq: sim.state.seq + 1, at: this.now });
      sim.events.push(event);
    }
  }

  keepRecord(sim: Sim): void {
    sim.kept = { state: sim.state, events: [...sim.events], wanted: sim.wanted };
  }

  /** The record is from now on what it was; the world is not. What was asked since and left no trace is forgotten. */
  putRecordBack(sim: Sim): void {
    if (sim.kept === null) return;
    const { state, events, wanted } = sim.kept;
    Object.assign(sim, { state, events: [...events], wanted, over: false, discarded: null });
    // The daemon that starts with it finds agents of the other kind first.
    const other = sim.processes.find(({ kind, launch }) => kind !== state.kind && !this.isRecorded(sim, launch));
    if (other === undefined) return;
    this.commit(sim, () => [{ type: "session.converted", kind: other.kind, by: "recovery" }]);
    sim.wanted = sim.state.intent;
  }

  protected isRecorded(sim: Sim, launch: LaunchId): boolean {
    return sim.events.some(
      (event) => (event.type === "launch.started" || event.type === "launch.adopted") && event.launch === launch,
    );
  }

  plan(sim: Sim, name: VerbName): Planned {
    const { state } = sim;
    switch (name) {
      case "prompt":
        return { verb: name, promptId: asPromptId(`p-${++this.minted}`), text: "text" };
      case "snooze":
        return { verb: name, until: this.now + 5_000 };
      case "convert":
      case "convert-fresh": {
        const kind = state.kind === "chat" ? "terminal" : "chat";
        return { verb: "convert", kind, fresh: name === "convert-fresh", handsOver: sim.canResume };
      }
      case "idle-stop":
        return { verb: name, quietSince: Math.max(state.lastActivityAt, state.intent.at) };
      case "end-snooze":
        return { verb: name, snooze: state.intent.seq };
      case "cleanup":
        return { verb: name, judged: state };
      case "restart":
        return { verb: name, launch: state.run.run === "up" ? state.run.launch : null };
      case "stop":
      case "wake":
      case "archive":
      case "unarchive":
      case "kill":
      case "delete":
      case "restore":
      case "halt":
        return { verb: name };
      default:
        return name satisfies never;
    }
  }

  /** Says whether it was taken. */
  verb(sim: Sim, verb: Planned): boolean {
    if (verb.verb === "restart") {
      sim.restart = verb.launch;
      return true;
    }
    const agent = sim.processes.some((process) => process.alive) ? "alive" : "down";
    const answer = applyVerb(sim.state, verb, { by: actors[verb.verb] ?? "person", agent });
    if (!answer.ok) return false;
    this.now += 1;
    for (const event of answer.events) {
      if (event.type !== "session.intent") continue;
      sim.wanted = event.want;
      sim.over = event.want.want === "killed" || event.want.want === "deleted";
    }
    this.commit(sim, () => answer.events);
    return true;
  }
}
