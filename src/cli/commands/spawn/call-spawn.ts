/** Options, request and output of `spawn` and `batch-spawn`. */
import { findProgram } from "../../../base/find-program.ts";
import type { SpawnRequest } from "../../../contract/spawn.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { SessionJson } from "../../../contract/session.ts";
import type { Context } from "../../context.ts";
import type { Waits } from "./waits.ts";
import { containModes, parseNetwork, type ContainMode } from "../../../contract/containment.ts";
import type { Kind, Role } from "../../../contract/ids.ts";
import type { OptionEntry, Input } from "../../command.ts";
import { clean, count } from "../../render/text.ts";

export const spawnOptionEntries: readonly OptionEntry[] = [
  { long: "agent", value: "id", description: "Agent to run, e.g. claude or codex", completes: "agent" },
  { long: "contain", value: "mode", description: "How to contain the agent", choices: containModes },
  {
    long: "network",
    value: "network",
    description: "Network access: on, off, allow-list (only its own model), or comma-separated hosts",
  },
  { long: "trust-devcontainer", description: "Accept what the repository's devcontainer.json runs and mounts" },
];

interface SpawnOptions {
  project: string;
  issue: string | undefined;
  input: Input;
}

export function spawnBody({ project, issue, input }: SpawnOptions): SpawnRequest {
  return {
    project,
    ...(issue === undefined ? {} : { issue }),
    ...input.texts("prompt", "agent", "branch", "base", "name"),
    ...(input.texts("kind", "role") as { kind?: Kind; role?: Role }),
    ...containBody(input),
    ...(input.flag("resume") ? { resume: true } : {}),
    ...(input.flag("no-wait") ? { wait: false } : {}),
  };
}

function containBody(input: Input): Pick<SpawnRequest, "contain"> {
  const mode = input.text("contain") as ContainMode | undefined;
  const text = input.text("network");
  const trust = input.flag("trust-devcontainer");
  if (mode === undefined && text === undefined && !trust) return {};
  const network = text === undefined ? undefined : parseNetwork(text);
  if (network === null) {
    throw new HoldfastError("usage", `--network must be on, off, allow-list or hosts, not ${JSON.stringify(text)}.`, {
      hint: "For example: --network api.anthropic.com,registry.npmjs.org",
    });
  }
  return {
    contain: {
      ...(mode === undefined ? {} : { mode }),
      ...(network === undefined ? {} : { network }),
      ...(trust ? { trustDevcontainer: true } : {}),
    },
  };
}

let requests = 0;

/** Explains a program that only the daemon does not find: installing it again would not help. */
export function withOwnPath(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof HoldfastError)) return error;
  let text = error.message;
  for (const { program, message } of error.details.missingPrograms ?? []) {
    const path = findProgram(program, env["PATH"]);
    const found = `${program} is not on the daemon's PATH. This shell finds it at ${path}: the daemon was started with another PATH.`;
    if (path !== null) text = text.replace(message, () => found);
  }
  if (text === error.message) return error;
  const hint = `Run \`holdfast restart\` here, then spawn again. Sessions keep running. ${error.hint ?? ""}`.trim();
  return new HoldfastError(error.code, text, { hint, cause: error });
}

export function callSpawn(context: Context, waits: Waits, body: SpawnRequest): Promise<SessionJson> {
  if (body.wait === false) {
    return context.call("spawn", { body }).catch((error: unknown) => {
      throw withOwnPath(error, context.env);
    });
  }
  // Unique within the home: no other process of this machine has this pid now.
  const requestId = `${process.pid}-${Date.now()}-${requests++}`;
  let found: string | null = null;
  return waits.during(
    {
      verb: "spawn",
      before: body.issue === undefined ? "Checking tools and repository" : "Reading the issue, checking the repository",
      find: async (own) => (found ??= (await own.call("spawning", { params: { id: requestId } })).session),
    },
    context.call("spawn", { body, requestId }).catch((error: unknown) => {
      throw withOwnPath(error, context.env);
    }),
  );
}

export function spawnedLines(
  session: Pick<SessionJson, "id" | "agent" | "project" | "workspacePath" | "branch" | "status" | "processes">,
): string[] {
  // An agent that runs but is not ready for input is `starting` as well.
  const isUp = session.status !== "starting" || session.processes.length > 0;
  return [
    `Session ${session.id} ${isUp ? "is running" : "is starting"} (${clean(session.agent)}, ${clean(session.project)}).`,
    `  Worktree: ${clean(session.workspacePath)}`,
    ...(session.branch === null ? [] : [`  Branch:   ${clean(session.branch)}`]),
    `  Attach:   holdfast attach ${session.id}`,
    `SESSION=${session.id}`,
  ];
}

export type BatchResult = { issue: string } & ({ session: string; error: null } | { session: null; error: string });

export function batchLine(result: BatchResult): string {
  return result.session === null
    ? `  Error spawning ${clean(result.issue)}: ${clean(result.error)}`
    : `  Spawned: ${result.session} (${clean(result.issue)})`;
}

export function batchSummary(results: readonly BatchResult[]): string {
  const failed = results.filter(({ session }) => session === null).length;
  return `${count(results.length - failed, "session")} spawned${failed === 0 ? "" : `, ${failed} failed`}.`;
}
