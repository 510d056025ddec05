/**
 * A simulated world for the decision core: a durable store, processes, worktrees and a daemon that can die between any
 * two steps. Everything that a crash would take with it lives in a generator; everything durable lives in `Sim`.
 */
import type { SessionEvent } from "../contract/event.ts";
import { asLaunchId, asTrashId, type ExitStatus, type LaunchId, type PromptId } from "../contract/ids.ts";
import { decide } from "./decide.ts";
import type { Action, SessionFacts, StopReason } from "../model/facts.ts";
import { conversionEvents } from "../model/lifecycle.ts";
import { isLive } from "../model/runs.ts";
import { WorldRecord, type Process, type Sim } from "./world-record.fixture.ts";

export class World extends WorldRecord {
  /** What a daemon knows that is gone with it. */
  crash(): void {
    for (const sim of this.sims) sim.restart = null;
  }

  #found(sim: Sim): Process | undefined {
    const expected = "launch" in sim.state.run ? sim.state.run.launch : null;
    const own = sim.processes.filter(({ kind }) => kind === sim.state.kind);
    return own.find(({ launch }) => launch !== expected) ?? own[0];
  }

  facts(sim: Sim, recheckAt: number | null = null): SessionFacts {
    const expected = "launch" in sim.state.run ? sim.state.run.launch : null;
    const process = this.#found(sim);
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
      recheckAt,
      workspaceInTrash: sim.disk.trash,
      trashedUnrecorded: sim.trashedBy !== null && !sim.events.includes(sim.trashedBy),
      isCreating: sim.making,
      restartRequested: sim.state.run.run === "up" && sim.state.run.launch === sim.restart,
    };
    if (sim.sight === "runtime-unknown")
      return { ...common, runtime: { is: "unknown", why: "runtime" }, absence: null };
    if (sim.sight === "blind") return { ...common, runtime: { is: "absent" }, absence: null };
    if (process === undefined) return { ...common, runtime: { is: "absent" }, absence: this.#absence(sim, expected) };
    const agent = process.alive ? ({ alive: true } as const) : ({ alive: false, exit: process.exit } as const);
    const activity = process.asking ? "needs_input" : sim.state.turn.turn === "open" ? "working" : "idle";
    const unrecorded = process.launch !== expected && !this.isRecorded(sim, process.launch);
    return {
      ...common,
      runtime: { is: "known", value: { launch: process.launch, agent, activity, lastLines: [], unrecorded } },
      absence: process.stopped === true ? "stopped" : null,
    };
  }

  #absence(sim: Sim, launch: LaunchId | null): SessionFacts["absence"] {
    if (launch !== null && (sim.bootOf.get(launch) ?? this.boot) !== this.boot) return "other-boot";
    if (sim.state.kind === "terminal" && !this.tmuxServer) return "no-server";
    return sim.state.run.run === "up" ? "identity-gone" : null;
  }

  /** Observes, decides, and executes the action; yields a name wherever the daemon could die. */
  *turn(sim: Sim): Generator<string, "acted" | Extract<Action, { do: "wait" }> | "quiet"> {
    const action = decide(this.facts(sim), this.now);
    if (action === null) return "quiet";
    if (action.do === "wait") return action;
    yield action.do;
    let step = 0;
    for (const _step of this.#execute(sim, action)) yield `${action.do}, step ${++step}`;
    return "acted";
  }

  *#execute(sim: Sim, action: Exclude<Action, { do: "wait" }>): Generator<void> {
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
      case "cancel-create":
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
        const launch = sim.processes.find(({ kind }) => kind === sim.state.kind)?.launch;
        if (launch === undefined) return;
        this.commit(sim, () => [{ type: "launch.adopted", launch, agent: null }]);
        return;
      }
      case "adopt-unrecorded": {
        const found = this.#found(sim);
        if (found === undefined) return;
        const { launch, alive, startedAt } = found;
        if (alive) this.verb(sim, { verb: "recover-running", startedAt });
        yield;
        this.commit(sim, ({ turn, workspace, workspacePath: path, branch, base }) => [
          ...(workspace.at !== "ready" && alive && sim.disk.path === "whole"
            ? [{ type: "workspace.ready" as const, path, branch, base, branchCreated: true }]
            : []),
          ...(turn.turn === "open" ? [{ type: "turn.ended" as const, stopReason: "orphaned_at_restart" }] : []),
          { type: "launch.adopted", launch, agent: null },
        ]);
        return;
      }
      case "stay-ended": {
        const { seq } = sim.state.intent;
        yield;
        const trash = asTrashId("trash");
        const found = [{ type: "workspace.trashed" as const, trash, ref: null, uncommitted: 0, unpushed: 0 }];
        this.verb(sim, { verb: "recover-end", intent: seq, found });
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
        if (action.how !== "stopped" && this.#found(sim)?.stopped === true)
          throw new Error(`a stop was taken for ${action.how}`);
        this.commit(sim, ({ run }) => (isLive(run) ? [end(run.launch, action.how, action.exit)] : []));
        return;
      case "reset-context":
        this.commit(sim, ({ agentSessionId }) => [
          { type: "context.reset", reason: action.why, previous: agentSessionId },
        ]);
        return;
      case "stop":
        yield* this.#stop(sim, action.why);
        return;
      case "convert": {
        const planned = sim.state;
        yield;
        this.commit(sim, (now) => conversionEvents(planned, now, false));
        return;
      }
      case "wake": {
        const due = this.plan(sim, "end-snooze");
        yield;
        this.verb(sim, due);
        return;
      }
      default:
        action satisfies never;
    }
  }

  *#launch(sim: Sim, { how, attempt }: Extract<Action, { do: "launch" }>): Generator<void> {
    const { prompted, agentSessionId, queue } = sim.state;
    if (prompted && agentSessionId !== null && sim.canResume && how !== "resume")
      throw new Error("conversation dropped");
    const launch = asLaunchId(`launch-${++this.minted}`);
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
    const conversation = how === "resume" ? agentSessionId! : `conversation-${this.minted}`;
    if (how === "resume" && conversation === sim.discarded) {
      this.commit(sim, () => [
        { type: "launch.failed", launch, reason: "there is no such conversation", lastLines: [] },
        ...(given === undefined ? [] : [{ type: "prompt.requeued" as const, promptId: given, reason: "not started" }]),
        { type: "context.reset", reason: "it is gone", previous: conversation },
      ]);
      return;
    }
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
    const startedAt = (this.now += 1);
    const { kind } = sim.state;
    sim.processes.push({ kind, launch, alive: !dies, exit, conversation, asking: false, stubborn: 0, startedAt });
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

  *#stop(sim: Sim, why: StopReason): Generator<void> {
    const { run, kind, intent, agentSessionId } = sim.state;
    const discards =
      why === "convert" && kind === "chat" && intent.want === "running" && intent.convert?.fresh === true;
    if (discards) sim.discarded = agentSessionId;
    if (discards) yield;
    for (const process of sim.processes.filter((one) => one.kind === kind)) {
      if (process.stubborn-- > 0) return;
      if (process.alive && !this.isRecorded(sim, process.launch))
        throw new Error("an agent ended that is not on record");
      // As most agents do: a SIGTERM ends them like their user's own word.
      if (process.alive) Object.assign(process, { alive: false, stopped: true, exit: { code: 0, signal: null } });
      yield;
    }
    sim.processes = sim.processes.filter((one) => one.kind !== kind);
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
      this.commit(sim, () => [{ type: "workspace.gone", reason: "never made", neverMade: true }]);
      return;
    }
    const by = sim.events.findLast(({ type }) => type === "session.intent") ?? null;
    if (sim.disk.path !== "none") {
      sim.disk = { path: "none", trash: true };
      sim.trashedBy = by;
    }
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
