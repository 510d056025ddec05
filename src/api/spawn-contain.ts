/** How a new session is contained, and the branch that this needs. */
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { atLeast, withWish, type Containment } from "../contract/containment.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { Actor, SessionId } from "../contract/ids.ts";
import { branchFor, slug } from "../model/names.ts";
import { askingAgent } from "./authorize.ts";
import type { Services } from "../supervisor/services.ts";

/** A person gets what they ask for; an agent nothing less than its project and its own session have. */
export function containmentFor(
  parts: Pick<Services, "store" | "agents">,
  settings: ProjectSettings,
  request: SpawnRequest,
  actor: Actor,
): Containment {
  const agent = askingAgent(parts, actor);
  // An agent cannot vouch for a repository.
  const wish = { ...request.contain, ...(agent === null ? {} : { trustDevcontainer: false }) };
  const asked = withWish(settings.contain, wish);
  const held = agent === null ? asked : atLeast(settings.contain, asked);
  const given = agent?.contain === undefined ? held : atLeast(agent.contain, held);
  if (given.mode === "off" && wish.network !== undefined && wish.network !== "on") {
    throw new HoldfastError("usage", "Only a contained session can be kept from the network.", {
      hint: "Add --contain worktree.",
    });
  }
  return given;
}

/** Git renames a lock over a branch's ref, so the folder around it is the agent's to write: it must hold nothing else. */
export async function containedBranch(
  { workspaces }: Pick<Services, "workspaces">,
  settings: ProjectSettings,
  of: { id: SessionId; asked: string | undefined; issue: string | null; title: string | null },
): Promise<string> {
  const { asked, id, issue, title } = of;
  if (asked === undefined) {
    const folder = await workspaces.freeBranch(settings.path, `holdfast/${id}`);
    const words = title === null || title === "" ? "work" : slug(title);
    return `${folder}/${issue === null ? words : branchFor({ session: id, issue, title, again: 1 })}`;
  }
  const folder = asked.split("/").slice(0, -1).join("/");
  if (folder !== "" && (await workspaces.freeBranch(settings.path, folder)) === folder) return asked;
  const why = folder === "" ? "is in no folder" : `is beside other branches in ${folder}/, or exists already`;
  throw new HoldfastError(
    "invalid",
    `A contained session needs a new branch in a folder of its own, and ${asked} ${why}.`,
    { hint: `Leave out --branch, or name one such as --branch ${id}/${slug(asked)}.` },
  );
}
