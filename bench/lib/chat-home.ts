/** A chat runtime with its own store in a temporary directory, composed as in the daemon. */
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bootId } from "../../src/base/pid.ts";
import { createIngest } from "../../src/chat/ingest.ts";
import type { Agents } from "../../src/ports/agents.ts";
import type { ChatRuntime, Ingest } from "../../src/ports/chat.ts";
import type { Store } from "../../src/ports/store.ts";
import type { SessionEvent } from "../../src/contract/event.ts";
import { asLaunchId, asProjectId, asSessionId, type LaunchId, type SessionId } from "../../src/contract/ids.ts";
import { openAcpRuntime } from "../../src/chat/runtime.ts";
import { openStore } from "../../src/store/open.ts";

export function makeChatDirectory(): { directory: string; remove: () => void } {
  const directory = mkdtempSync(join(process.env["HOLDFAST_BENCH_DIR"] ?? "/tmp", "hf-bench-"));
  mkdirSync(join(directory, "work"));
  copyFileSync(new URL("../../src/chat/keeper.sh", import.meta.url), join(directory, "keeper.sh"));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export function openChatStore(directory: string): Store {
  const path = join(directory, "holdfast.db");
  return openStore({ path, backupsDirectory: join(directory, "backups"), reservePath: null, now: Date.now });
}

/** `committed` is called after each commit of an agent's lines. */
export function openChatRuntime(
  directory: string,
  store: Store,
  commands: Record<string, string[]> = {},
  committed: () => void = () => {},
): ChatRuntime {
  const agents: Agents = { of: ({ agent }) => definition(agent, commands[agent]), list: () => [] };
  const { ingest } = createIngest({ store, agents });
  const ingestAndReport: Ingest = async (batch) => {
    const done = await ingest(batch);
    committed();
    return done;
  };
  return openAcpRuntime({
    workersDirectory: join(directory, "workers"),
    keeperPath: join(directory, "keeper.sh"),
    agents,
    bootId: bootId(),
    env: { PATH: process.env["PATH"] ?? "" },
    buildOf: () => "bench",
    store,
    ingest: ingestAndReport,
    stillOurs: () => true,
  });
}

export function sessionCreated(
  directory: string,
  id: SessionId,
  agent: string,
): Extract<SessionEvent, { type: "session.created" }> {
  const place = { branch: id, branchCreated: false, base: "main", workspacePath: join(directory, "work") };
  const names = { id, project: asProjectId("app"), agent, title: id, issue: null, by: "person" as const };
  return { type: "session.created", kind: "chat", role: "worker", ...names, ...place };
}

export function newIds(number: number): { id: SessionId; launch: LaunchId } {
  return { id: asSessionId(`app-${number}`), launch: asLaunchId(randomUUID()) };
}

function definition(id: string, command: string[] | undefined): ReturnType<Agents["of"]> {
  if (command === undefined) return null;
  const chat = { command, env: {}, notFound: [] };
  return { id, label: id, install: "", version: null, terminal: null, chat, env: {} };
}
