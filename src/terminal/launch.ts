/**
 * Starts one launch of an agent in its own tmux session and checks that it runs. Repeatable for one launch id: the tmux
 * session's options contain it, so an existing launch is found instead of started again.
 */
import { randomUUID } from "node:crypto";
import { cgroupMembers, joinFile, type Cgroups } from "../base/cgroup.ts";
import { identify } from "../base/pid.ts";
import { firstWithin } from "../base/pid-namespace.ts";
import { findTree } from "../base/process-tree.ts";
import { personalUmask } from "../base/program.ts";
import type { AgentDefinition, Agents, TerminalAgent } from "../ports/agents.ts";
import { type Contained, type Containing, containedLaunch } from "../ports/contain.ts";
import type { LaunchRequest, LaunchResult } from "../ports/runtime.ts";
import { HoldfastError } from "../contract/errors.ts";
import { defaultTerminal } from "./tmux.ts";
import { treeTarget, otherName, tmuxName, launchMarker } from "./launch-files.ts";
import {
  agentPaneOption,
  homeOption,
  launchOption,
  listPanes,
  removeSession,
  sessionOption,
  type Pane,
} from "./panes.ts";
import { failure, watchStart, type StartContext, type Started } from "./start.ts";
import { confirmsPrompts, showsReady } from "./watch.ts";
import { isCommand } from "./screen.ts";

/** Linux limits one argument to 128 KiB; longer prompts are pasted once the agent runs. */
const maxArgumentBytes = 100 * 1024;

interface Placeholders {
  id: string;
  prompt: string;
  hooks: string;
}

/** In one pass, so that a prompt that contains `{id}` does not change. */
export function fill(text: string, values: Placeholders): string {
  return text.replaceAll(/\{(id|prompt|hooks)\}/g, (_, name: keyof Placeholders) => values[name]);
}

/**
 * Whether the first prompt can be an argument: not too long, and not like an option. The agent's own commands are typed:
 * nothing would confirm them.
 */
export function fitsArgument(prompt: string): boolean {
  return (
    prompt.trim() !== "" &&
    !prompt.startsWith("-") &&
    !isCommand(prompt) &&
    Buffer.byteLength(prompt) <= maxArgumentBytes
  );
}

interface LaunchCommand {
  argv: string[];
  promptTaken: boolean;
}

export function agentCommand(agent: TerminalAgent, request: LaunchRequest, values: Placeholders): LaunchCommand {
  const resuming = request.how === "resume" && agent.resume !== null;
  const base = resuming ? agent.resume! : agent.start;
  const promptArgs = resuming ? agent.resumePrompt : agent.startPrompt;
  const isArgument = promptArgs !== null && fitsArgument(values.prompt);
  const promptTaken = request.prompt !== null && isArgument;
  const argv = [...base, ...(promptTaken ? promptArgs : [])].map((part) => fill(part, values));
  return { argv, promptTaken };
}

/** Variables by which the agent would believe that it runs elsewhere, or in another session. */
const notPassedOn =
  /^(TMUX|HOLDFAST_(?!HOME$|TEST_)|TERM$|TERM_PROGRAM|STY$|WINDOWID$|SHLVL$|PWD$|OLDPWD$|COLUMNS$|LINES$)/;

export function agentEnvironment(
  base: NodeJS.ProcessEnv,
  agent: AgentDefinition,
  request: LaunchRequest,
  values: Placeholders,
): Record<string, string> {
  const env: Record<string, string> = { COLORTERM: "truecolor" };
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && !notPassedOn.test(name)) env[name] = value;
  }
  for (const layer of [agent.env, agent.terminal?.env ?? {}, request.env]) {
    for (const [name, value] of Object.entries(layer)) env[name] = fill(value, values);
  }
  env["HOLDFAST_SESSION"] = request.session.id;
  env[launchMarker] = request.launch;
  return env;
}

export interface LaunchContext extends StartContext {
  agents: Agents;
  env: NodeJS.ProcessEnv;
  cgroups: Pick<Cgroups, "make">;
  contain: Containing | null;
}

/** Wide enough for every agent's layout; an attached viewer's size replaces it. */
const size = ["-x", "160", "-y", "50"];
const newSession = ["new-session", "-d", ...size, "-P", "-F", "#{session_id}\t#{pane_id}\t#{pane_pid}"];
/** A contained launch must not inherit the server's environment. */
const emptied = ["/usr/bin/env", "-i"];

export async function launch(context: LaunchContext, request: LaunchRequest): Promise<LaunchResult> {
  const definition = context.agents.of(request.session);
  const agent = definition?.terminal ?? null;
  if (definition === null || agent === null) {
    return notLaunched(`agent ${request.session.agent} is not known or has no terminal mode`);
  }
  if (request.how === "resume" && agent.resume !== null && request.session.agentSessionId === null) {
    return notLaunched("the conversation to resume is not known");
  }
  const earlier = context.files.note(request.session.id, request.launch);
  if (earlier !== null) {
    const there = await findEarlier(context, request, agent);
    if (there !== null) return there;
  }
  const resuming = request.how === "resume" && agent.resume !== null;
  const id = resuming
    ? request.session.agentSessionId
    : agent.conversationId === "chosen"
      ? (earlier?.agentSessionId ?? randomUUID())
      : null;
  const written = await writeFiles(context, request, definition, agent, id);
  if (written.is === "refused") {
    context.files.remove(request.session.id, request.launch);
    return notLaunched(written.why);
  }
  const { promptTaken, contained } = written;
  context.watches.forget(request.session.id);
  const made = await makeSession(context, request, contained !== null);
  if (made.is === "there") return adopt(context, request, agent, made.pane);
  if (made.is === "refused") {
    context.files.remove(request.session.id, request.launch);
    return notLaunched(made.why);
  }
  const died = await watchStart(context, request, agent, {
    ...made,
    contained: contained?.inNamespace === true,
  });
  context.watches.forget(request.session.id);
  if (died !== null) return died;
  context.files.forgetRun(request.session.id, request.launch);
  const identity = identify(made.pid);
  if (identity === null) return failure(context, request, agent, made.pane);
  noteCgroup(context, request, made.pid);
  noteFirst(context, request, made.pid);
  return { launched: true, agent: identity, agentSessionId: id, promptTaken, ...promises(agent) };
}

/** An agent that could not join its cgroup runs nevertheless, and is stopped like one without a cgroup. */
function noteCgroup(context: LaunchContext, { session, launch }: LaunchRequest, pid: number): void {
  const cgroup = context.files.note(session.id, launch)?.cgroup ?? null;
  if (cgroup === null || cgroupMembers(cgroup).includes(pid)) return;
  context.log?.warn("an agent could not join its cgroup", { session: session.id, cgroup });
}

/** Records the first process of a contained launch: stopping it stops everything. Without it the marker finds them. */
function noteFirst({ files }: LaunchContext, { session, launch }: LaunchRequest, pid: number): void {
  const note = files.note(session.id, launch);
  if (note?.contained === undefined || note.contained.first !== null) return;
  const first = firstWithin(pid);
  if (first !== null) files.amend(session.id, { ...note, contained: { first } });
}

type Written = { is: "written"; promptTaken: boolean; contained: Contained | null } | { is: "refused"; why: string };

async function writeFiles(
  context: LaunchContext,
  request: LaunchRequest,
  definition: AgentDefinition,
  agent: TerminalAgent,
  id: string | null,
): Promise<Written> {
  const { session, launch } = request;
  const hooks = context.files.directory(session.id, launch);
  const values = { id: id ?? "", prompt: request.prompt?.text.replaceAll("\0", "") ?? "", hooks };
  const { argv, promptTaken } = agentCommand(agent, request, values);
  const env = agentEnvironment(context.env, definition, request, values);
  const files = agent.files.map((file) => ({ ...file, text: fill(file.text, values) }));
  context.files.writeHooks(session.id, launch, files);
  let contained: Contained | null;
  try {
    const given = [definition.env, agent.env, request.env].flatMap((layer) => Object.keys(layer));
    contained = await containedLaunch(context.contain, {
      session,
      launch,
      argv,
      command: [...agent.start, ...(agent.resume ?? [])],
      // tmux sets TERM for a pane, and a contained launch inherits nothing.
      env: { ...env, TERM: defaultTerminal },
      given,
      directory: hooks,
      files: [],
      hooks: files.length > 0,
      ownFolders: definition.ownFolders ?? [],
    });
  } catch (error) {
    if (error instanceof HoldfastError) return { is: "refused", why: [error.message, error.hint].join(" ").trim() };
    throw error;
  }
  const cgroup = context.cgroups.make(session.id, launch);
  const file = cgroup === null ? null : joinFile(cgroup);
  const what = { env: contained?.env ?? env, argv: contained?.argv ?? argv };
  const run = { workspace: session.workspacePath, umask: personalUmask(), cgroup: file, ...what };
  const resumed = request.how === "resume" && agent.resume !== null;
  const note = { launch, agentSessionId: id, promptTaken, resumed, cgroup };
  const written = contained?.inNamespace === true ? { ...note, contained: { first: null } } : note;
  context.files.write(session.id, written, run);
  return { is: "written", promptTaken, contained };
}

type Making = ({ is: "made" } & Started) | { is: "there"; pane: Pane } | { is: "refused"; why: string };

async function makeSession(context: LaunchContext, request: LaunchRequest, contained: boolean): Promise<Making> {
  const { session, launch } = request;
  let name = tmuxName(session);
  // Once for a dead session of ours with this name, once for a foreign one, once for a server that is exiting.
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const target = `=${name}:`;
    const directory = context.files.directory(session.id, launch);
    const reply = await context.tmux.run({
      mayStartServer: true,
      commands: [
        [...newSession, "-s", name, ...(contained ? emptied : []), "/bin/sh", context.starterPath, directory],
        ["set-option", "-t", target, sessionOption, session.id],
        ["set-option", "-t", target, launchOption, launch],
        ...(context.tmux.home === null ? [] : [["set-option", "-t", target, homeOption, context.tmux.home]]),
        ["set-option", "-p", "-t", target, agentPaneOption, "1"],
      ],
    });
    if (reply.is === "ok") {
      const [sessionTarget, paneTarget, pid] = reply.stdout.trim().split("\t");
      return { is: "made", pane: { sessionTarget: sessionTarget!, paneTarget: paneTarget! }, pid: Number(pid) };
    }
    if (reply.is === "refused" && !reply.message.startsWith("duplicate session")) {
      return { is: "refused", why: `tmux refused the session: ${reply.message}` };
    }
    const panes = await panesOrThrow(context, reply.is === "unknown" ? reply.why : "tmux does not answer");
    const own = panes.filter((pane) => pane.session === session.id);
    const same = own.find((pane) => pane.launch === launch);
    if (same !== undefined) return { is: "there", pane: same };
    const alive = own.find((pane) => !pane.dead);
    if (alive !== undefined) return { is: "refused", why: `an earlier launch of ${session.id} still runs` };
    if (reply.is !== "refused") continue;
    if (own.length === 0) name = otherName(tmuxName(session), session.id);
    for (const pane of own) await removeSession(context.tmux, pane);
  }
  return { is: "refused", why: "tmux did not make the session" };
}

/** Unknown whether the session was created: the caller repeats the same launch later instead of recording a failure. */
async function panesOrThrow(context: LaunchContext, why: string): Promise<Pane[]> {
  const list = await listPanes(context.tmux);
  if (list.is !== "unknown") return list.panes;
  throw new HoldfastError("launch-failed", `tmux cannot be reached: ${why}`, {
    hint: "Holdfast retries the launch. To check tmux, run `holdfast doctor`.",
  });
}

/** Finds what an interrupted call for this launch left. */
async function findEarlier(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
): Promise<LaunchResult | null> {
  const panes = await panesOrThrow(context, "tmux does not answer");
  const pane = panes.find((one) => one.session === request.session.id && one.launch === request.launch);
  if (pane !== undefined) return adopt(context, request, agent, pane);
  const left = await findTree(treeTarget(request.session, context.files, []));
  return left.length === 0 ? null : notLaunched("processes of an earlier launch still run");
}

async function adopt(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  pane: Pane,
): Promise<LaunchResult> {
  const identity = pane.dead ? null : identify(pane.pid);
  if (identity === null) return failure(context, request, agent, pane);
  noteFirst(context, request, pane.pid);
  const note = context.files.note(request.session.id, request.launch);
  const agentSessionId = note?.agentSessionId ?? null;
  const promptTaken = note?.promptTaken ?? false;
  return { launched: true, agent: identity, agentSessionId, promptTaken, ...promises(agent) };
}

function promises(agent: TerminalAgent): { promptConfirmed: "later" | "never"; starting: boolean } {
  return { promptConfirmed: confirmsPrompts(agent) ? "later" : "never", starting: showsReady(agent) };
}

function notLaunched(reason: string): LaunchResult {
  return { launched: false, reason, exit: null, lastLines: [], conversationGone: false };
}
