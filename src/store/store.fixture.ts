/** What the store's tests share. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LogEntry, SessionCreated, FactEvent, StoredEvent } from "../contract/event.ts";
import { asProjectId, asPromptId, asSessionId } from "../contract/ids.ts";
import type { IntentName } from "../model/session.ts";
import type { Store } from "../ports/store.ts";
import { openStore, type StoreOptions } from "./open.ts";

export interface Home {
  directory: string;
  options: StoreOptions;
  /** Opens it, again if need be; closed when the test ends. */
  open(more?: Partial<StoreOptions>): Store;
}

/** A home of its own for one test, gone when the test ends. */
export function makeHome(where: "a file" | ":memory:" = "a file"): Home {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-store-"));
  const opened: Store[] = [];
  onTestFinished(() => {
    for (const store of opened) store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  let time = 1_700_000_000_000;
  const options: StoreOptions = {
    path: where === ":memory:" ? where : join(directory, "holdfast.db"),
    backupsDirectory: join(directory, "backups"),
    reservePath: null,
    now: () => ++time,
  };
  return {
    directory,
    options,
    open(more = {}) {
      const store = openStore({ ...options, ...more });
      opened.push(store);
      return store;
    },
  };
}

export function created(id: string): SessionCreated {
  return {
    type: "session.created",
    id: asSessionId(id),
    project: asProjectId("app"),
    kind: "terminal",
    role: "worker",
    agent: "demo",
    title: id,
    issue: null,
    branch: `holdfast/${id}`,
    branchCreated: true,
    base: "main",
    workspacePath: `/worktrees/${id}`,
    by: "person",
  };
}

export const output = (text: string): FactEvent => ({ type: "workspace.output", text });

export const renamed = (title: string): FactEvent => ({ type: "session.renamed", title, by: "person" });

/** Unjudged, and passed off as a fact: these tests are about what the store does with events, not about verbs. */
export const intent = (want: Exclude<IntentName, "snoozed">): FactEvent =>
  ({ type: "session.intent", want: { want }, by: "person" }) as unknown as FactEvent;

export const admitted = (promptId: string, text: string): FactEvent => ({
  type: "prompt.admitted",
  promptId: asPromptId(promptId),
  text,
  by: "person",
});

export function eventOf({ seq, at, type, body }: LogEntry): StoredEvent {
  return { seq, at, type, ...(JSON.parse(body) as object) } as StoredEvent;
}

/** The error that a promise or a function fails with; a success fails the test. */
export async function errorOf(
  attempt: Promise<unknown> | (() => unknown),
): Promise<Error & { code?: string; hint?: string | null }> {
  try {
    await (typeof attempt === "function" ? attempt() : attempt);
  } catch (error) {
    return error as Error;
  }
  throw new Error("it worked, but should have failed");
}
