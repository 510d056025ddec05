/** Options that spawn and batch-spawn share, and the request they make. */
import type { SpawnRequest } from "../protocol/command.ts";
import type { Kind, Role } from "../protocol/session.ts";
import type { OptionEntry } from "./entry-types.ts";
import type { Input } from "./input.ts";

export const spawnOptionEntries: readonly OptionEntry[] = [
  { long: "agent", value: "id", description: "which agent, such as claude or codex", completes: "agent" },
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
    ...(role === undefined ? {} : { role }),
    ...(input.flag("resume") ? { resume: true } : {}),
    ...(input.flag("no-wait") ? { wait: false } : {}),
  };
}
