/** The worlds of both runtimes with every session contained, and a list of a session's processes, however they hide. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pidNamespace } from "../../src/base/pid-namespace.ts";
import { listProcesses } from "../../src/base/pid.ts";
import { openContainment } from "../../src/contain/contain.ts";
import type { Containing } from "../../src/ports/contain.ts";
import type { Runtime, TerminalRuntime } from "../../src/ports/runtime.ts";
import type { Containment } from "../../src/contract/containment.ts";
import type { SessionState } from "../../src/model/session.ts";
import type { Behaviour } from "../../src/ports/runtime-contract.fixture.ts";
import type { TmuxRuntimeOptions } from "../../src/terminal/runtime.ts";
import { endMarked, markedProcesses } from "../harness/marked.ts";
import { AcpWorld } from "./acp-world.ts";
import { TmuxWorld } from "./tmux-world.ts";

const root = join(import.meta.dirname, "../..");
/** The test's own programs are in a different place than an agent's. */
export const contained: Containment = { mode: "worktree", network: "on", read: [root], write: [] };

function containing(directory: string): Containing {
  return openContainment({ directory: join(directory, "contained"), hidden: [join(directory, "secret")] });
}

const variable = "HOLDFAST_TEST_WORLD";

export class ContainedTmuxWorld extends TmuxWorld {
  readonly contain = containing(this.directory);

  override open(over: Partial<TmuxRuntimeOptions> = {}): TerminalRuntime {
    const env = { PATH: process.env["PATH"] ?? "", HOME: join(this.directory, "home"), LANG: "C.UTF-8" };
    const run = process.env["HOLDFAST_TEST_RUN"] ?? "alone";
    const marks = { HOLDFAST_TEST_RUN: run, [variable]: this.directory, HOLDFAST_HOME: this.directory };
    return super.open({ contain: this.contain, env: { ...env, ...marks }, ...over });
  }

  override sessionOf(...given: Parameters<TmuxWorld["sessionOf"]>): SessionState {
    return { contain: contained, ...super.sessionOf(...given) };
  }

  override processes(session: SessionState): number[] {
    return inside(session, this.directory);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await endMarked(markedProcesses(`${variable}=${this.directory}`));
    await super[Symbol.asyncDispose]();
  }
}

export class ContainedAcpWorld extends AcpWorld {
  readonly contain: Containing;

  constructor() {
    const contain: { it?: Containing } = {};
    super({
      contain: {
        preflight: (session) => contain.it!.preflight(session),
        contain: (request) => contain.it!.contain({ ...request, env: { ...request.env, [variable]: this.directory } }),
        ownHome: (session) => contain.it!.ownHome(session),
        takeOver: (session) => contain.it!.takeOver(session),
        showSocket: () => contain.it!.showSocket(),
        remove: (id) => contain.it!.remove(id),
      },
    });
    this.contain = contain.it = containing(this.directory);
  }

  override session(behaviour: Behaviour): SessionState {
    return { ...super.session(behaviour), contain: contained };
  }

  override open(): Runtime {
    return this.runtime;
  }

  override processes(session: SessionState): number[] {
    return inside(session, this.directory);
  }

  override async killEverything(): Promise<void> {
    await endMarked(markedProcesses(`${variable}=${this.directory}`));
    await super.killEverything();
  }
}

/** Everything in the pid namespace of any process with the session's marks, except the processes that create it. */
function inside({ id }: SessionState, directory: string): number[] {
  const marked = new Set(markedProcesses(`HOLDFAST_SESSION=${id}`).map(({ pid }) => pid));
  const world = markedProcesses(`${variable}=${directory}`).filter(({ pid }) => marked.has(pid));
  const own = pidNamespace("self");
  const namespaces = new Set(world.map(({ pid }) => pidNamespace(pid)).filter((one) => one !== own && one !== null));
  const found = listProcesses().filter(({ pid }) => namespaces.has(pidNamespace(pid)));
  return found.map(({ pid }) => pid).filter((pid) => nameOf(pid) !== "bwrap");
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
