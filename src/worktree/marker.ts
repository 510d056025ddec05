/** What we know about a worktree, kept in git's own directory for it: never inside the worktree, gone when it is. */
import { join } from "node:path";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import type { WorkspaceReady } from "../ports/worktree.ts";
import { readText } from "./git/read-regular.ts";

export type Marker = { is: "spare"; commit: string } | { is: "ready"; session: string; workspace: WorkspaceReady };

const file = (admin: string): string => join(admin, "holdfast.json");

/** Not flushed to disk: losing it only means that finished steps are looked at again. */
export function writeMarker(admin: string, marker: Marker): void {
  const temporary = `${file(admin)}.tmp`;
  writeFileSync(temporary, JSON.stringify(marker), { mode: 0o600 });
  renameSync(temporary, file(admin));
}

export function readMarker(admin: string): Marker | null {
  const text = readText(file(admin));
  if (text === null) return null;
  let value: Partial<Marker> | null;
  try {
    value = JSON.parse(text) as Partial<Marker> | null;
  } catch {
    return null;
  }
  return value?.is === "spare" || value?.is === "ready" ? (value as Marker) : null;
}

/** git writes the index last: as long as there is none, the checkout was never finished and nobody worked in it. */
export function isCheckedOut(admin: string): boolean {
  return existsSync(join(admin, "index"));
}
