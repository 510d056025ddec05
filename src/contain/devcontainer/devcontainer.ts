/**
 * `contain: devcontainer`: the agent runs in the repository's dev container, created by the devcontainer CLI with any
 * engine. One container per session, found by its labels: by the next daemon, and to stop it.
 * A launch's files are in a folder that is mounted when the container is created. The environment is in a file, because
 * every user of the machine can read the command line of `devcontainer exec`.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { Serial } from "../../base/async.ts";
import { digestOf } from "../../base/digest.ts";
import { makePrivateDirectory } from "../../base/durable-file.ts";
import type { Contained, ContainRequest } from "../../ports/contain.ts";
import type { SessionContainers } from "../../ports/containers.ts";
import type { Containment } from "../../contract/containment.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import { impossible } from "../contain.ts";
import { gitMounts, gitPathsOf } from "../git-mounts.ts";
import { recordRepository } from "../take-over.ts";
import {
  assertUsable,
  bindMount,
  findConfig,
  pin,
  pinnedConfig,
  pinnedFile,
  readPinned,
  type FoundConfig,
  type Pinned,
} from "./config.ts";
import * as engines from "./engine.ts";
import { dangersOf, type Around } from "./judge.ts";
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { containedEnvironment } from "../environment.ts";

/** The folder's path inside; nothing else is mounted below it. */
const insideFolder = "/run/holdfast-launch";
const starter = "start.sh";
const hookLines = "hooks.jsonl";

const starterText = `#!/bin/sh
# Written by Holdfast. usage: start.sh LAUNCH COMMAND...
. "\${0%/*}/$1/env" || exit 126
shift
exec "$@"
`;

/** Variables that name paths outside; the container has its own. */
const always = /^(PATH|HOME|USER|SHELL|TMPDIR)$/;
/** The same, unless set on purpose. */
const outside =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|TMPDIR|XDG_.*|SSL_CERT_.*|NODE_EXTRA_CA_CERTS|.*_PROXY|CLAUDE_CONFIG_DIR|CODEX_HOME|JAVA_HOME|ANDROID_HOME|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|VIRTUAL_ENV|PYENV_ROOT|NVM_DIR|FNM_DIR|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|SDKMAN_DIR|GIT_.*|HOLDFAST_SOCKET|HOLDFAST_TEST_RUN)$/i;

/** Returns the agent's command as it is inside. Nothing may run in the container meanwhile. */
function writeLaunch(shared: string, request: ContainRequest): string[] {
  const { launch, directory, files, hooks, argv } = request;
  const [folder, inside] = [join(shared, launch), `${insideFolder}/${launch}`];
  // Files of earlier launches are no longer read.
  for (const name of readdirSync(shared)) rmSync(join(shared, name), { recursive: true, force: true });
  // Exclusive: an earlier agent may have left a link here.
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(shared, starter), starterText, { mode: 0o755, flag: "wx" });
  for (const name of files)
    if (existsSync(join(directory, name)))
      copyFileSync(join(directory, name), join(folder, name), constants.COPYFILE_EXCL);
  if (hooks) shareLines(join(directory, hookLines), join(folder, hookLines));
  const there = (text: string): string => text.replaceAll(directory, inside);
  writeFileSync(join(folder, "env"), environmentText(request, there), { mode: 0o600, flag: "wx" });
  return ["/bin/sh", `${insideFolder}/${starter}`, launch, ...argv.map(there)];
}

/** One file with two names: the daemon keeps reading it, whatever the agent does to its own name. */
function shareLines(ours: string, theirs: string): void {
  writeFileSync(ours, "", { flag: "a", mode: 0o600 });
  linkSync(ours, theirs);
}

function environmentText({ env, given }: ContainRequest, there: (text: string) => string): string {
  const set = new Set(given);
  const inner = Object.entries(containedEnvironment(env, given)).filter(
    ([name]) => !always.test(name) && (set.has(name) || !outside.test(name)) && /^[A-Za-z_]\w*$/.test(name),
  );
  return inner.map(([name, value]) => `export ${name}='${there(value).replaceAll("'", "'\\''")}'\n`).join("");
}

export interface DevcontainerOptions {
  /** Identifies the home that owns the containers: two homes may use one engine. */
  home: string;
  /** Holdfast's own folders, which no container mounts. */
  hidden: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Whether the user trusts this devcontainer.json. */
  isTrusted: (session: SessionState, file: Pick<FoundConfig, "path" | "digest">) => boolean;
}

/** An image may have to be downloaded and built. */
const upMs = 45 * 60_000;

export class Devcontainers implements SessionContainers {
  readonly #options: DevcontainerOptions;
  readonly #home: string;
  /** Starting and stopping a container exclude each other. */
  readonly #serial = new Serial();
  /** Launches in progress in the devcontainer CLI, by session. */
  readonly #starting = new Map<string, AbortController>();
  /** Aborted when the daemon stops: no command outlives it. */
  readonly #closing = new AbortController();

  constructor(options: DevcontainerOptions) {
    this.#options = options;
    this.#home = digestOf(options.home);
  }

  /** Problems that would stop a session from starting, as sentences with the fix. */
  async preflight(contain: Pick<Containment, "network" | "trustDevcontainer">, repository?: string): Promise<string[]> {
    const found = await engines.findTools(this.#call(this.#options.env));
    const problems = found.is === "missing" ? found.problems : [];
    if (typeof contain.network === "object") problems.push(noAllowList);
    if (repository !== undefined) problems.push(...this.#faults(repository, contain.trustDevcontainer === true));
    return problems;
  }

  /** Checks the repository's own checkout, because the worktree does not exist yet; the launch checks again. */
  #faults(repository: string, isTrusted: boolean): string[] {
    try {
      assertUsable(findConfig(repository), this.#around(repository), isTrusted);
      return [];
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return [`${error.message} ${error.hint ?? ""}`.trim()];
    }
  }

  contain(request: ContainRequest, containment: Containment, own: string): Promise<Contained> {
    return this.#serial.run(request.session.id, async () => {
      const starting = new AbortController();
      this.#starting.set(request.session.id, starting);
      try {
        return await this.#contain(request, containment, own, starting.signal);
      } catch (error) {
        if (!this.#closing.signal.aborted) await this.#stop(request.session.id, true);
        throw error;
      } finally {
        this.#starting.delete(request.session.id);
      }
    });
  }

  /** Aborts a launch in progress: a killed session does not wait for an image build. */
  giveUp(session: SessionId): void {
    this.#starting.get(session)?.abort();
  }

  /** Aborts every command in progress; the next daemon starts over. */
  close(): void {
    this.#closing.abort();
  }

  async #contain(
    request: ContainRequest,
    containment: Containment,
    own: string,
    signal: AbortSignal,
  ): Promise<Contained> {
    const { session } = request;
    if (typeof containment.network === "object") throw impossible(noAllowList);
    const found = await engines.findTools(this.#call(this.#options.env));
    if (found.is === "missing") throw impossible(found.problems.join(" "));
    const { tools } = found;
    const folder = join(own, "devcontainer");
    const shared = join(folder, "shared");
    makePrivateDirectory(shared);
    // Leftovers of an earlier launch could change the files that are written next.
    const [left] = readPinned(folder) === null ? [] : await this.#stop(session.id, true);
    if (left !== undefined) throw impossible(`An earlier launch is still running in ${left.what}.`);
    const mounts = [...gitBinds(session, own), { source: shared, target: insideFolder, readonly: false }];
    const pinned = this.#pinned(session, folder, mounts, containment.network);
    const argv = writeLaunch(shared, request);
    const common = this.#common(tools, session, folder, pinned);
    const id = await this.#up(tools, common, signal);
    await this.#assertContained(tools, id, session, { pinned, ours: mounts.map(({ source }) => source) });
    await this.#must([tools.cli, "run-user-commands", ...common, "--skip-post-attach"], "set up", signal);
    return { argv: [tools.cli, "exec", ...common, ...argv], env: this.#outer(request), inNamespace: false };
  }

  /** Stops everything in a session's container. Returns what keeps running. */
  stop(session: SessionId, force: boolean): Promise<{ pid: number; what: string }[]> {
    return this.#serial.run(session, () => this.#stop(session, force));
  }

  async #stop(session: SessionId, force: boolean): Promise<{ pid: number; what: string }[]> {
    const running = async () => {
      const ours = await this.#containers();
      return ours === null
        ? null
        : { ...ours, list: ours.list.filter((one) => one.session === session && one.running) };
    };
    const before = await running();
    for (const { id } of before?.list ?? []) {
      await engines.stopContainer(before!.engine, id, force, this.#call());
    }
    const left = before?.list.length === 0 ? before : await running();
    // No response does not mean an empty list.
    if (left === null) return [{ pid: 0, what: "its container: the container engine does not respond" }];
    return left.list.map(({ id }) => ({ pid: 0, what: `container ${id}` }));
  }

  /** Stops containers of sessions that do not run, and removes those of sessions that no longer exist. */
  async reconcile(state: (session: SessionId) => "running" | "down" | "deleted"): Promise<void> {
    const ours = await this.#containers();
    for (const { id, session, running } of ours?.list ?? []) {
      await this.#serial.run(session, async () => {
        // Checked in turn: a launch may have started meanwhile.
        const now = state(session as SessionId);
        if (now === "deleted") await engines.removeContainer(ours!.engine, id, this.#call());
        else if (now === "down" && running) await engines.stopContainer(ours!.engine, id, false, this.#call());
      });
    }
  }

  async remove(session: SessionId): Promise<void> {
    const ours = async () => (await this.#containers())?.list.some((one) => one.session === session);
    await this.reconcile((id) => (id === session ? "deleted" : "running"));
    if ((await ours()) !== false) throw impossible("Cannot remove the container: the engine does not respond.");
  }

  async #containers(): Promise<{ engine: string; list: engines.ContainerSeen[] } | null> {
    const found = await engines.findTools(this.#call(this.#options.env));
    if (found.is === "missing") return null;
    const { engine } = found.tools;
    const list = await engines.listContainers(engine, this.#home, this.#call());
    return list === null ? null : { engine, list };
  }

  #around(worktree: string): Around {
    const home = this.#options.env["HOME"] ?? homedir();
    return { worktree, home, hidden: this.#options.hidden };
  }

  /** From the worktree before the first launch, from the record afterwards. */
  #pinned(session: SessionState, folder: string, binds: readonly Bind[], network: "on" | "off"): Pinned {
    const known = readPinned(folder);
    if (known !== null) return known;
    const found = findConfig(session.workspacePath);
    const { dangers } = assertUsable(
      found,
      this.#around(session.workspacePath),
      this.#options.isTrusted(session, found),
    );
    const mounts = binds.map(({ source, target, readonly }) => bindMount(source, target, readonly));
    const config = pinnedConfig(found.config, { worktree: session.workspacePath, mounts, network });
    const pinned: Pinned = { digest: found.digest, path: found.path, dangers };
    pin(folder, config, pinned);
    return pinned;
  }

  #common(tools: engines.Tools, { id, workspacePath }: SessionState, folder: string, { path }: Pinned): string[] {
    return [
      ["--docker-path", tools.engine],
      ["--workspace-folder", workspacePath],
      ["--id-label", `${engines.sessionLabel}=${id}`],
      ["--id-label", `${engines.homeLabel}=${this.#home}`],
      // With our content at the repository's path: relative paths start there.
      ["--config", path],
      ["--override-config", pinnedFile(folder)],
    ].flat();
  }

  async #up(tools: engines.Tools, common: readonly string[], signal: AbortSignal): Promise<string> {
    // The repository's commands run only after the container is checked.
    const result = await this.#must([tools.cli, "up", ...common, "--skip-post-create"], "start", signal);
    const { containerId } = JSON.parse(engines.lastLine(result)) as { containerId?: string };
    if (containerId === undefined) throw impossible("The devcontainer CLI did not report the container it started.");
    return containerId;
  }

  async #must(argv: readonly string[], what: string, signal: AbortSignal): Promise<string> {
    const both = AbortSignal.any([signal, this.#closing.signal]);
    const result = await engines.ask(argv, { ...this.#call(), signal: both }, upMs);
    // Not a failure of the container: the session should run.
    if (this.#closing.signal.aborted) throw new Error("the daemon is stopping");
    if (result.code === 0) return result.stdout;
    if (signal.aborted) throw impossible("The session was stopped while its dev container started.");
    throw impossible(`The dev container could not ${what}: ${messageIn(result)}`);
  }

  /** Features and images may add rights that the file does not name. */
  async #assertContained(
    { engine }: engines.Tools,
    id: string,
    session: SessionState,
    { pinned, ours }: { pinned: Pinned; ours: readonly string[] },
  ): Promise<void> {
    const seen = await engines.inspect(engine, id, this.#call());
    const around = { ...this.#around(session.workspacePath), ours: [session.workspacePath, ...ours] };
    const unknown = dangersOf(seen, around).filter((danger) => !pinned.dangers.includes(danger));
    if (unknown.length === 0) return;
    await engines.removeContainer(engine, id, this.#call());
    throw impossible(`The image or a feature adds rights that devcontainer.json does not name: ${unknown.join("; ")}.`);
  }

  #call(env: NodeJS.ProcessEnv = this.#engineEnv()): engines.Call {
    return { env, signal: this.#closing.signal };
  }

  /** The engine's client needs the user's own settings; devcontainer.json can read only these variables. */
  #engineEnv(): Record<string, string> {
    const kept = /^(PATH|HOME|USER|LANG|LC_.*|TERM|TMPDIR|DOCKER_.*|CONTAINER_.*|XDG_RUNTIME_DIR|HOLDFAST_TEST_.*)$/;
    const entries = Object.entries(this.#options.env).filter(([name]) => kept.test(name));
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** Marks the process outside as part of the launch. */
  #outer({ env }: ContainRequest): Record<string, string> {
    const marks = Object.entries(env).filter(([name]) =>
      /^(HOLDFAST_(LAUNCH|SESSION|TEST_RUN)|TERM|COLORTERM)$/.test(name),
    );
    return { ...this.#engineEnv(), ...Object.fromEntries(marks) };
  }
}

const noAllowList = "A dev container has no network allow list. Use --network on or --network off.";

interface Bind {
  source: string;
  target: string;
  readonly: boolean;
}

/** The mounts of `worktree` mode, for an engine, which mounts outer folders first. */
function gitBinds({ workspacePath, branch }: SessionState, own: string): Bind[] {
  const paths = gitPathsOf(workspacePath);
  // The agent's commits are taken over from the session's own folder.
  if (paths !== null) recordRepository(own, paths, branch);
  return gitMounts(workspacePath, branch, own).map(([how, source, target]) => {
    return { source, target, readonly: how.startsWith("--ro-bind") };
  });
}

function messageIn({ stdout, stderr, code }: engines.RunResult): string {
  try {
    const { message, description } = JSON.parse(engines.lastLine(stdout)) as { message?: string; description?: string };
    return description ?? message ?? `exit status ${code}`;
  } catch {
    return engines.lastLine(stderr) || `exit status ${code}`;
  }
}
