/** Options that spawn and batch-spawn share, and the request they make. */
import type { SpawnRequest } from "../../../contract/command.ts";
import { containModes, parseNetwork, type ContainMode } from "../../../contract/containment.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Kind, Role } from "../../../model/session.ts";
import type { OptionEntry } from "../../command.ts";
import type { Input } from "../../input.ts";

export const spawnOptionEntries: readonly OptionEntry[] = [
  { long: "agent", value: "id", description: "which agent, such as claude or codex", completes: "agent" },
  { long: "contain", value: "mode", description: "off, worktree or devcontainer", choices: containModes },
  {
    long: "network",
    value: "network",
    description: "on, off, allow-list (its own model only), or hosts that it may reach as well, with commas between",
    completes: "none",
  },
  { long: "trust-devcontainer", description: "Accept what the repository's devcontainer.json runs and mounts" },
];

export interface SpawnOptions {
  project: string;
  issue: string | undefined;
  input: Input;
}

export function spawnBody({ project, issue, input }: SpawnOptions): SpawnRequest {
  const text = (name: "prompt" | "agent" | "branch" | "base" | "name"): { [K in typeof name]?: string } => {
    const value = input.text(name);
    return value === undefined ? {} : { [name]: value };
  };
  const kind = input.text("kind") as Kind | undefined;
  const role = input.text("role") as Role | undefined;
  return {
    project,
    ...(issue === undefined ? {} : { issue }),
    ...text("prompt"),
    ...text("agent"),
    ...text("branch"),
    ...text("base"),
    ...text("name"),
    ...(kind === undefined ? {} : { kind }),
    ...containBody(input),
    ...(role === undefined ? {} : { role }),
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
    throw new HoldfastError("usage", `--network takes on, off, allow-list or hosts, not ${JSON.stringify(text)}.`, {
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
