/** The form's inputs. They survive navigation and a reload, until the session is created. */
import type { SpawnRequest } from "../../contract/spawn.ts";
import { readJson, store } from "../shared/data/storage.ts";

export interface Draft {
  project: string;
  prompt: string;
  issue: string;
  name: string;
  /** Empty for the project's default. */
  agent: string;
  kind: "" | "terminal" | "chat";
  branch: string;
  base: string;
}

const key = "holdfast:new-session:v1";
const empty: Draft = { project: "", prompt: "", issue: "", name: "", agent: "", kind: "", branch: "", base: "" };

export function loadDraft(): Draft {
  const stored = readJson(key, sessionStorage) as Partial<Draft> | null;
  const project = new URLSearchParams(location.search).get("project");
  return { ...empty, ...stored, ...(project === null ? {} : { project }) };
}

/** Null removes it. */
export function storeDraft(draft: Draft | null): void {
  store(key, draft && JSON.stringify(draft), sessionStorage);
}

/** Only the filled-in fields: the project has defaults for the rest. */
export function requestOf(draft: Draft): SpawnRequest {
  const { project, kind } = draft;
  const filled = (["prompt", "issue", "name", "agent", "branch", "base"] as const).flatMap((name) => {
    const value = name === "prompt" ? draft.prompt : draft[name].trim();
    return value.trim() === "" ? [] : [[name, value] as const];
  });
  return { project, ...Object.fromEntries(filled), ...(kind === "" ? {} : { kind }) };
}

/** The daemon's hints name command-line options; the form has fields of the same names. */
export function withoutFlags(hint: string): string {
  return hint.replaceAll(/ with --[a-z]+/g, "").replaceAll(/--([a-z]+)/g, "the $1");
}
