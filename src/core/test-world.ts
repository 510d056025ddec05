/**
 * A simulated world for the decision core: a durable store, processes, worktrees and a daemon that can die between any
 * two steps. Everything that a crash would take with it lives in a generator; everything durable lives in `Sim`.
 */
import type { SessionEvent } from "../protocol/event.ts";
import { asLaunchId, asPromptId, asSessionId, asTrashId, type LaunchId, type PromptId } from "../protocol/ids.ts";
import { reduce } from "../protocol/reduce.ts";
import type { ExitStatus, SessionState } from "../protocol/session.ts";
import { decide } from "./decide.ts";
import type { Action, SessionFacts } from "./facts.ts";
import { applyVerb, type Verb } from "./lifecycle.ts";
import { isLive } from "./runs.ts";
import { created } from "./test-facts.ts";

export interface Process {
  launch: LaunchId;
  alive: boolean;
  exit: ExitStatus | null;
  conversation: string;
  /** A permission or question is open. */
  asking: boolean;
  /** Survives this many stops. */
  stubborn: number;
}

export type Sight = "clear" | "runtime-unknown" | "disk-unknown" | "blind";
export type LaunchOutcome = "works" | "fails" | "dies";

export interface Sim {
  state: SessionState;
  events: SessionEvent[];
  processes: Process[];
  disk: { path: "none" | "half" | "whole"; trash: boolean };
  /** A command that makes the worktree runs; it outlives the daemon. */
  making: boolean;
  /** Whether there ever was a whole worktree: from then on it must be somewhere. */
  worked: boolean;
  typed: Map<PromptId, number>;
  bootOf: Map<LaunchId, number>;
  sight: Sight;
  nextLaunch: LaunchOutcome;
  canResume: boolean;
  /** The person's last word was kill or delete: whatever is written afterwards, it stays that way. */
  over: boolean;
}

export class World {
  now = 1_000_000;
  boot = 1;
  tmuxServer = true;
  readonly sims: Sim[] = [];
  #minted = 0;

  spawn(kind: "terminal" | "chat", canResume: boolean): void {
    const id = asSessionId(`ma-${this.sims.length + 1}`);
    const state = reduce(null, { ...created, id, kind, seq: 1, at: this.now });
    this.sims.push({
      state,
      events: [created],
      processes: [],
      disk: { path: "none", trash: false },
      making: false,
      worked: false,
      typed: new Map(),
      bootOf: new Map(),
      sight: "clear",
      nextLaunch: "works",
      canResume,
      over: false,
    });
  }

  /** One transaction; the change looks at the state as it is now. */
  commit(sim: Sim, change: (state: SessionState) => SessionEvent[]): void {
    for (const event of change(sim.state)) {
      sim.state = reduce(sim.state, { ...event, seq: sim.state.seq + 1, at: this.now });
      sim.events.push(event);
    }
  }

  verb(sim: Sim, verb: Exclude<Verb, { verb: "prompt" }> | { verb: "prompt" }): void {
    const whole: Verb =
      verb.verb === "prompt" ? { ...verb, promptId: asPromptId(`p-${++this.#minted}`), text: "text" } : verb;
    const agent = sim.processes.some((process) => process.alive) ? "alive" : "down";
    const answer = applyVerb(sim.state, whole, { by: "person", agent });
    if (!answer.ok) return;
    this.commit(sim, () => answer.events);
    if (verb.verb === "kill" || verb.verb === "delete") sim.over = true;
    if (verb.verb === "restore") sim.over = false;
  }

  facts(sim: Sim, lookAgainAt: number | null = null): SessionFacts {
    const expected = "launch" in sim.state.run ? sim.state.run.launch : null;
    const process = sim.processes.find(({ launch }) => launch !== expected) ?? sim.processes[0];
    const common = {
      session: sim.state,
      workspace:
        sim.sight === "disk-unknown"
          ? ({ is: "unknown", why: "disk" } as const)
          : sim.disk.path === "none"
            ? ({ is: "absent" } as const)
            : ({ is: "known", value: true } as const),
      restoreLost: true,
      canResume: sim.canResume,
      lookAgainAt,
      workspaceInTrash: sim.disk.trash,
      beingMade: sim.making,
    };
    if (sim.sight === "runtime-unknown")
      return { ...common, runtime: { is: "unknown", why: "runtime" }, absence: null };
    if (sim.sight === "blind") return { ...common, runtime: { is: "absent" }, absence: null };
    if (process === undefined) return { ...common, runtime: { is: "absent" }, absence: this.#absence(sim, expected) };
    const agent = process.alive ? ({ alive: true } as const) : ({ alive: false, exit: process.exit } as const);
    const activity = process.asking ? "needs_input" : sim.state.turn.turn === "open" ? "working" : "idle";
    return {
      ...common,
      runtime: { is: "known", value: { launch: process.launch, agent, activity, lastLines: [] } },
      absence: null,
    };
  }

  #absence(sim: Sim, launch: LaunchId | null): SessionFacts["absence"] {
    if (launch !== null && (sim.bootOf.get(launch) ?? this.boot) !== this.boot) return "other-boot";
    if (sim.state.kind === "terminal" && !this.tmuxServer) return "no-server";
    return sim.state.run.run === "up" ? "identity-gone" : null;
  }

  /** Observes, decides, and performs the first action; yields wherever the daemon could die. */
  *turn(sim: Sim): Generator<void, "acted" | Extract<Action, { do: "wait" }> | "quiet"> {
    const [action] = decide(this.facts(sim), this.now);
    if (action === undefined) return "quiet";
    if (action.do === "wait") return action;
    yield;
    yield* this.#perform(sim, action);
    return "acted";
  }

  *#perform(sim: Sim, action: Exclude<Action, { do: "wait" }>): Generator<void> {
    switch (action.do) {
      case "create-workspace":
        // What an earlier daemon left at it is ended before it is begun anew.
        sim.making = false;
        yield;
        if (sim.disk.path === "none") sim.disk.path = "half";
        sim.making = true;
        yield;
        if (sim.state.intent.want !== "running") return;
        sim.making = false;
        sim.disk.path = "whole";
        sim.worked = true;
        yield;
        this.commit(sim, ({ workspacePath: path, branch, base }) => [
          { type: "workspace.ready", path, branch, base, branchCreated: true },
        ]);
        return;
      case "end-making":
        sim.making = false;
        return;
      case "restore-workspace":
        yield* this.#restoreWorkspace(sim);
        return;
      case "remove-workspace":
        yield* this.#removeWorkspace(sim);
        return;
      case "launch":
        yield* this.#launch(sim, action);
        return;
      case "adopt": {
        const launch = sim.processes[0]?.launch;
        if (launch === undefined) return;
        this.commit(sim, () => [{ type: "launch.adopted", launch, agent: null }]);
        return;
      }
      case "deliver":
        yield* this.#deliver(sim, action.prompt);
        return;
      case "settle-prompt":
        this.commit(sim, () => [this.#look(sim, action.prompt)]);
        return;
      case "settle-turn":
        this.commit(sim, ({ turn }) => (turn.turn === "open" ? [{ type: "turn.ended", stopReason: action.as }] : []));
        return;
      case "record-end":
        this.commit(sim, ({ run }) => (isLive(run) ? [end(run.launch, action.how, action.exit)] : []));
        return;
      case "reset-context":
        this.commit(sim, ({ agentSessionId }) => [
          { type: "context.reset", reason: action.why, previous: agentSessionId },
        ]);
        return;
      case "stop":
        yield* this.#stop(sim);
        return;
      case "wake":
        this.commit(sim, ({ intent }) =>
          intent.want === "snoozed" ? [{ type: "session.intent", want: { want: "running" }, by: "snooze-timer" }] : [],
        );
        return;
      default:
        action satisfies never;
    }
  }

  *#launch(sim: Sim, { how, attempt }: Extract<Action, { do: "launch" }>): Generator<void> {
    const { prompted, agentSessionId, queue } = sim.state;
    if (prompted && agentSessionId !== null && sim.canResume && how !== "resume")
      throw new Error("conversation dropped");
    const launch = asLaunchId(`launch-${++this.#minted}`);
    // A first prompt that goes in with the command line is on record as being sent before the process is made.
    const given = sim.state.kind === "terminal" ? queue.find(({ state }) => state === "queued")?.promptId : undefined;
    this.commit(sim, ({ intent, run }) =>
      intent.want !== "running" || isLive(run)
        ? []
        : [
            { type: "launch.started", launch, how, attempt },
            ...(given === undefined ? [] : [{ type: "prompt.sending" as const, promptId: given, launch }]),
          ],
    );
    if (sim.state.run.run !== "launching" || sim.state.run.launch !== launch) return;
    sim.bootOf.set(launch, this.boot);
    yield;
    const conversation = how === "resume" ? agentSessionId! : `conversation-${this.#minted}`;
    if (sim.nextLaunch === "fails") {
      this.commit(sim, () => [
        { type: "launch.failed", launch, reason: "it does not start", lastLines: [] },
        ...(given === undefined ? [] : [{ type: "prompt.requeued" as const, promptId: given, reason: "not started" }]),
      ]);
      return;
    }
    this.tmuxServer = true;
    const dies = sim.nextLaunch === "dies";
    const exit = dies ? { code: 1, signal: null } : null;
    sim.processes.push({ launch, alive: !dies, exit, conversation, asking: false, stubborn: 0 });
    if (given !== undefined) this.#type(sim, given);
    yield;
    this.commit(sim, () => [
      { type: "conversation.pinned", agentSessionId: conversation },
      { type: "launch.up", launch, agent: null },
      ...(given === undefined ? [] : [{ type: "prompt.sent" as const, promptId: given, seenBy: "argument" }]),
    ]);
  }

  *#deliver(sim: Sim, promptId: PromptId): Generator<void> {
    const { run } = sim.state;
    if (run.run !== "up") return;
    this.commit(sim, () => [{ type: "prompt.sending", promptId, launch: run.launch }]);
    yield;
    const process = sim.processes.find(({ launch, alive }) => alive && launch === run.launch);
    if (process === undefined || process.asking) {
      this.commit(sim, () => [{ type: "prompt.requeued", promptId, reason: "not now" }]);
      return;
    }
    this.#type(sim, promptId);
    yield;
    this.commit(sim, () => [{ type: "prompt.sent", promptId, seenBy: "screen" }, ...this.#turnOf(sim, promptId)]);
  }

  /** A chat agent's `in` tells whether the prompt went; a terminal does not. */
  #look(sim: Sim, promptId: PromptId): SessionEvent {
    const reason = "interrupted";
    if (sim.state.kind === "terminal") return { type: "prompt.doubtful", promptId, reason };
    if (!sim.typed.has(promptId)) return { type: "prompt.requeued", promptId, reason };
    return sim.processes.some(({ alive }) => alive)
      ? { type: "prompt.sent", promptId, seenBy: "in" }
      : { type: "prompt.doubtful", promptId, reason };
  }

  #turnOf(sim: Sim, promptId: PromptId): SessionEvent[] {
    return sim.state.kind === "chat" ? [{ type: "turn.started", promptId }] : [];
  }

  #type(sim: Sim, promptId: PromptId): void {
    sim.typed.set(promptId, (sim.typed.get(promptId) ?? 0) + 1);
  }

  *#stop(sim: Sim): Generator<void> {
    const { run } = sim.state;
    for (const process of sim.processes) {
      if (process.stubborn-- > 0) return;
      if (process.alive) Object.assign(process, { alive: false, exit: { code: null, signal: "SIGTERM" } });
      yield;
    }
    sim.processes = [];
    yield;
    if (!isLive(run)) return;
    this.commit(sim, ({ run: now }) =>
      isLive(now) && now.launch === run.launch ? [end(run.launch, "stopped", null)] : [],
    );
  }

  *#removeWorkspace(sim: Sim): Generator<void> {
    if (sim.processes.some(({ alive }) => alive)) throw new Error("worktree removed under a living agent");
    if (sim.sight !== "clear") throw new Error(`worktree removed while ${sim.sight}`);
    if (sim.making) throw new Error("worktree removed while it is being made");
    if (sim.state.workspace.at === "planned") {
      // Nothing was at work in it yet, so there is nothing to keep.
      sim.disk.path = "none";
      sim.worked = false;
      yield;
      this.commit(sim, () => [{ type: "workspace.gone", reason: "never made" }]);
      return;
    }
    if (sim.disk.path !== "none") sim.disk = { path: "none", trash: true };
    yield;
    this.commit(sim, () => [
      sim.disk.trash
        ? { type: "workspace.trashed", trash: asTrashId("trash"), ref: null, uncommitted: 0, unpushed: 0 }
        : { type: "workspace.gone", reason: "nothing there" },
    ]);
  }

  *#restoreWorkspace(sim: Sim): Generator<void> {
    if (sim.disk.trash) sim.disk = { path: "whole", trash: false };
    yield;
    const { workspacePath: path, branch } = sim.state;
    this.commit(sim, () => [
      sim.disk.path === "whole"
        ? { type: "workspace.restored", trash: asTrashId("trash"), path, branch }
        : { type: "workspace.gone", reason: "not in the trash" },
    ]);
  }
}

function end(
  launch: LaunchId,
  how: Extract<Action, { do: "record-end" }>["how"],
  exit: ExitStatus | null,
): SessionEvent {
  return { type: "run.ended", launch, how, exit, uptimeMs: null, lastLines: [] };
}
