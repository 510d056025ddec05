/**
 * Puts the daemon together: the only file that knows every concrete part. Order matters: the lock comes first, the store
 * before anything that acts, a first answer for every session before the API listens, and the report to whoever waits last.
 */
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { openProjectAgents, type ProjectAgents } from "../agents/project-agents.ts";
import { agentVariables, idsWithoutTrust, thisMachine } from "../agents/registry.ts";
import { build, version, rememberUmask, uptimeMs } from "../base/program.ts";
import { openCgroups } from "../base/cgroup.ts";
import { keepWritten, makePrivateDirectory, readJson, writeAtomically } from "../base/durable-file.ts";
import {
  type DaemonFile,
  defaultLaunchOptions,
  type LaunchOptions,
  readLaunchOptions,
  keepLaunch,
} from "../base/launch-options.ts";
import { acquireLock, type Lock } from "../base/home-lock.ts";
import { openLog, type LogFile } from "../base/log-file.ts";
import { Owner } from "../base/async.ts";
import { resolvePaths, type Paths } from "../base/paths.ts";
import { digestOf } from "../base/digest.ts";
import { bootId, identify } from "../base/pid.ts";
import { reach } from "../base/test-points.ts";
import { openContainment } from "../contain/contain.ts";
import { openOuter } from "../contain/outer.ts";
import { openLazyProjects } from "../config/lazy-projects.ts";
import { openRules } from "../config/permission-rules.ts";
import { openAccess } from "../server/access.ts";
import { assertMayListen } from "../server/hosts.ts";
import { createApi } from "../server/server.ts";
import type { Store } from "../ports/store.ts";
import { type SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { openAcpRuntime } from "../chat/runtime.ts";
import { openTmuxRuntime } from "../terminal/runtime.ts";
import { openStore } from "../store/open.ts";
import { openLazyWorktrees } from "../worktree/lazy-worktrees.ts";
import { createAuthorize } from "../api/authorize.ts";
import { openCallers, openCapabilities } from "../supervisor/callers/callers.ts";
import { listen, tlsFacts, tlsOf } from "./choose-port.ts";
import { createCommands } from "../api/commands.ts";
import { followContained, takingOver } from "../contain/contained.ts";
import { endingContainers, watchContainers } from "../contain/devcontainer/watch.ts";
import { newDeviceNote, TrackingDoor } from "../integrations/trackers/lazy-tracking.ts";
import { watchNetwork } from "../contain/network/watch.ts";
import { Transcripts } from "../supervisor/transcripts.ts";
import { settleHome } from "./home-identity.ts";
import { openKeptEnv, knownSettings, type KnownSettings } from "../supervisor/known-settings.ts";
import { knownAgents } from "../supervisor/known-agents.ts";
import { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { openRuleBook } from "../supervisor/permission-rules.ts";
import { createExecutor } from "../supervisor/execute/execute.ts";
import { openPrograms, type Programs } from "../supervisor/programs.ts";
import { PushDoor } from "../integrations/notifiers/lazy-push.ts";
import { createIngest } from "../chat/ingest.ts";
import { workerBuilds, type WorkerCommand } from "../chat/agent-builds.ts";
import { noticePassphraseChange } from "../server/passphrase.ts";
import { keepPublished } from "./published.ts";
import { startPolicies } from "../supervisor/policies.ts";
import { selfCheck } from "../api/self-check.ts";
import { createTail } from "../api/tail.ts";
import { recordConversions } from "../supervisor/unrecorded.ts";
import { createTerminals } from "../api/terminals.ts";
import { keptTrust, trustNotes } from "../supervisor/trust-answers.ts";
import {
  baseEnvironment,
  failure,
  homeAnswer,
  managedBy,
  mayHalt,
  onCrash,
  outsideOfUnit,
  report,
} from "./this-process.ts";

/** A stop is to be over within a second: what is in the middle of an action is repeated by the next daemon. */
const stopGraceMs = 300;

const rememberPathMs = 1_000;

/** The setting that holds what the files said of agents. */
const keptAgents = "config.agents";

/**
 * @param dist the directory of the built program.
 * @param umask of whoever started it.
 */
export async function main(dist: string, umask: number): Promise<void> {
  rememberUmask(umask);
  const paths = resolvePaths();
  const owner = new Owner();
  try {
    makePrivateDirectory(paths.home);
    chmodSync(paths.home, 0o700);
    const lock = acquireLock(paths.lock);
    if (lock === null) return report({ report: "already-running" });
    owner.owns("lock", () => lock.release());
    const log = openLog({ file: join(paths.logs, "daemon.log") });
    owner.owns("log", () => log.close());
    onCrash(log);
    await run(dist, paths, owner, log, lock);
  } catch (error) {
    // In this order: whoever reads the report may start the next daemon at once, and the home must be free then.
    await owner.close().catch(() => undefined);
    report(failure(error));
    // Without waiting for what is still under way: the look-up of a host's name takes minutes where nobody answers.
    process.exit(1);
  }
}

async function run(dist: string, paths: Paths, owner: Owner, log: LogFile, lock: Lock): Promise<void> {
  const startedAt = Date.now();
  const options = readOptions(paths, log);
  log.setLevel(options.logLevel);
  assertMayListen(options.host, options.auth, hasPassphrase(paths));
  await reach("daemon.locked");

  const agents = agentsOf(dist);
  const store = openStore({
    path: paths.database,
    backupsDirectory: paths.backups,
    reservePath: paths.reserve,
    now: Date.now,
    log,
  });
  owner.owns("store", () => store.close());
  // Before anything looks at agents: a copy's records name the original's.
  const settled = await settleHome(store, paths, { answer: homeAnswer(), log });
  const { serverPrefix, cgroupsRefused } = outsideOfUnit();
  const hidden = [...new Set([paths.home, dirname(paths.worktrees), paths.trash, dirname(paths.config)])];
  const outer = openOuter({
    home: paths.home,
    contained: paths.contained,
    hidden,
    agents,
    node: process.execPath,
    programs: dist,
    env: process.env,
    launchPrefix: () => serverPrefix,
  });
  const contain = outer.removing(
    openContainment({
      ...outer.options,
      directory: paths.contained,
      hidden,
      agentsSocket: paths.agentsSocket,
      git: async (kind, args, call) => (await import("../worktree/git/git.ts")).runGit(kind, args, call),
      shared: async ({ project }) => {
        const { path, symlinks } = await settings.forSession(project);
        return symlinks.map((name) => join(path, name));
      },
      log,
    }),
  );
  const cgroups = openCgroups(paths.tmuxSocket, cgroupsRefused);
  const tmux = openTmuxRuntime({
    socketName: paths.tmuxSocket,
    configDirectory: paths.tmux,
    launchesDirectory: paths.launches,
    agents,
    home: settled.id,
    bootId: bootId(),
    env: baseEnvironment(agentVariables),
    serverPrefix,
    cgroups,
    contain,
    log,
  });
  owner.owns("tmux", () => tmux.close());
  const known = knownAgents(agents, { store, log });
  const trust = keptTrust(store, Date.now);
  const projects = openLazyProjects(
    {
      userConfig: paths.config,
      trust,
      onAgents: (project, said) => known.learn(project, said),
      kept: { get: () => store.getSetting(keptAgents), put: (text) => store.putSetting(keptAgents, text) },
    },
    build,
  );
  const settings = knownSettings({
    store,
    projects,
    log,
    trust,
    keptEnv: openKeptEnv(paths.projectEnv, log),
    agentsWithoutTrust: idsWithoutTrust,
  });
  // Only a saving of space and secrets: a full disk must not keep the daemon from starting.
  await settings.forgetValues().catch((error: unknown) => log.warn("kept settings could not be cleaned", { error }));
  const programs = openPrograms({ agents, settings, store });
  const keeper = installKeeper(paths.home, dist);
  const builds = workerBuilds(keeper.digest);
  const workerCommand = commandOfWorkers(agents, programs);
  const transcripts = new Transcripts(store);
  owner.owns("transcripts", () => transcripts.close());
  const rules = openRuleBook({ source: openRules(paths.config), store, log });
  const { ingest, close: closeIngest } = createIngest(
    { store, agents, rules },
    { onTurnEnd: (session) => transcripts.turnEnded(session) },
  );
  owner.owns("ingest", closeIngest);
  const chat = openAcpRuntime({
    workersDirectory: paths.workers,
    keeperPath: keeper.path,
    agents,
    bootId: bootId(),
    env: baseEnvironment(agentVariables),
    buildOf: (session) => builds.of(workerCommand(session)),
    isStale: (session, known) => builds.isStale(workerCommand(session), known),
    store,
    ingest,
    stillOurs: () => lock.isOurs(),
    cgroups,
    contain,
    log,
  });
  owner.owns("chat", () => chat.close());
  await known.begin(await projects.agents(store.projects()), settings);
  const heard = { pullRequests: new Map<SessionId, number>(), issues: new Map<SessionId, number>() };
  const worktrees = openLazyWorktrees({
    worktreesDirectory: paths.worktrees,
    trashDirectory: paths.trash,
    now: Date.now,
    repositoryOf: (path) => {
      const project = store.sessions().find((session) => session.workspacePath === path)?.project;
      return store.projects().find((row) => row.id === project)?.path ?? null;
    },
    log,
  });
  const workspaces = takingOver(worktrees, { store, contain, log });
  for (const runtime of [tmux, chat]) endingContainers(runtime, outer.containers);
  const capabilities = openCapabilities(store);
  const services: Services = {
    store,
    transcripts,
    settings,
    trust,
    programs,
    rules,
    runtimes: { terminal: tmux, chat },
    workspaces,
    agents,
    contain,
    projects,
    clock: { now: Date.now, bootId, uptime: uptimeMs },
    log,
    worktrees: paths.worktrees,
    home: paths.home,
    agentsSocket: paths.agentsSocket,
    capabilities,
    restore: options.restore,
    heardAt: (id) => heard.pullRequests.get(id) ?? null,
    issueHeardAt: (id) => heard.issues.get(id) ?? null,
  };
  const loop = new Loop(services, createExecutor(services));
  owner.owns("loop", () => loop.close(stopGraceMs));
  await recordConversions(services);
  await loop.start();
  await reach("daemon.reconciled");
  void tmux
    .clearDeleted((id) => store.wasUsed(id) && store.session(id) === null)
    .catch((error: unknown) => log.warn("files of deleted sessions could not be removed", { error }));
  owner.owns("policies", startPolicies(services, loop));
  owner.owns("contained", followContained(services));
  owner.owns("network", watchNetwork(services, outer.network, outer.hadProxy));
  owner.owns("containers", watchContainers(services, outer.containers));
  owner.owns("container commands", outer.close);
  const push = new PushDoor(paths.push, async () => {
    const { WebPush } = await import("../integrations/notifiers/web-push.ts");
    // Only a test has its push service on this machine.
    const loopback = process.env["HOLDFAST_TEST_POINTS"] !== undefined;
    return new WebPush({ file: paths.push, now: Date.now, log, hide: (secret) => log.hide(secret), loopback });
  });
  owner.owns("push", () => push.close());
  const tracking = new TrackingDoor(services, loop, {
    heard,
    push,
    trackers: async () => {
      const [{ createTrackers }, { run: runProgram }] = await Promise.all([
        import("../integrations/trackers/trackers.ts"),
        import("../base/run.ts"),
      ]);
      return createTrackers({ env: process.env, run: runProgram, configDir: dirname(paths.config), now: Date.now });
    },
    webhook: async (...given) => (await import("../integrations/trackers/webhook.ts")).openWebhook(...given),
    notifiers: async () => (await import("../integrations/notifiers/registry.ts")).openNotifiers(),
  });
  owner.owns("tracking", () => tracking.close());
  tracking.start();

  const access = openAccess({
    tokenFile: paths.token,
    passphraseFile: paths.passphrase,
    mode: options.auth,
    settings: { get: (key) => store.getSetting(key), put: (key, value) => store.putSetting(key, value) },
    now: Date.now,
    log,
  });
  owner.owns("access", () => access.settled());
  await noticePassphraseChange({
    markFile: paths.passphraseMark,
    store,
    onPassphraseChanged: async () => {
      await access.revokeAll();
      await push.removeOf(null);
    },
    log,
  });
  const daemonFile = (url: string): DaemonFile => ({
    pid: process.pid,
    startTime: identify(process.pid)?.startTime ?? "",
    bootId: bootId(),
    version,
    build,
    url,
    socket: paths.socket,
    startedAt,
    managedBy: managedBy(),
    options,
    path: process.env["PATH"] ?? "",
    variables: Object.keys(process.env).toSorted(),
  });
  let file = daemonFile("");
  const tls = tlsOf(options);
  const api = createApi({
    handlers: createCommands(services, loop, {
      info: () => ({
        state: "running",
        pid: file.pid,
        version,
        build,
        url: file.url,
        publicUrls: [...options.publicUrls],
        tls: tlsFacts(tls),
        socket: file.socket,
        home: paths.home,
        startedAt: new Date(startedAt).toISOString(),
        managedBy: file.managedBy,
      }),
      shutDown: () => void setImmediate(() => void shutDown("asked to stop")),
      readOnly: options.readOnly,
      onProjects: () => rememberVariables(paths, store, settings),
      configFile: paths.config,
      cli: [process.execPath, join(dist, "cli.cjs")],
      selfCheck: () => selfCheck(services, paths, cgroups.state),
      tracking,
      push,
    }),
    authorize: createAuthorize(services),
    callers: openCallers(services, capabilities, paths.tmuxSocket),
    tail: createTail(services, loop),
    terminals: createTerminals(services),
    access,
    webDirectory: join(dist, "web"),
    version,
    build,
    readOnly: options.readOnly,
    publicUrls: options.publicUrls,
    tls,
    mayHalt,
    onRevoked: (devices) => push.removeOf(devices),
    onNewDevice: (device) => void tracking.announce(newDeviceNote(device, Date.now())),
    log,
  });
  owner.owns("api", () => api.close());
  makePrivateDirectory(dirname(paths.socket));
  await api.listenSocket(paths.socket);
  await api.listenSocket(paths.agentsSocket, "agents");
  const listening = await listen(api, options, store, log);
  file = daemonFile(listening.url);
  contain.showSocket();
  // Before anyone can find this daemon and ask it to stop.
  const shutDown = async (why: string): Promise<void> => {
    log.info("stopping", { why });
    await owner.close().catch((error: unknown) => console.error(error));
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void shutDown(signal));
  const text = `${JSON.stringify(file)}\n`;
  writeAtomically(paths.daemonFile, text);
  owner.owns("daemon file", () => rmSync(paths.daemonFile, { force: true }));
  const sockets = [
    { path: paths.socket, listen: () => api.listenSocket(paths.socket) },
    { path: paths.agentsSocket, listen: () => api.listenSocket(paths.agentsSocket, "agents") },
  ];
  owner.owns("published", keepPublished({ daemonFile: paths.daemonFile, text, sockets, log }));
  keepLaunch(paths.launchFile);
  rememberVariables(paths, store, settings);
  log.info("ready", { pid: process.pid, url: file.url, build, startupMs: Date.now() - startedAt });
  report({
    report: "ready",
    pid: process.pid,
    url: file.url,
    notes: [
      ...listening.notes,
      ...settled.notes,
      ...(await trustNotes(services)),
      ...(paths.socketMoved === null ? [] : [`${paths.socketMoved}; using ${paths.socket}.`]),
    ],
  });
  // Browsers ask [::1] first for `localhost`.
  if (!(await api.listenIpv6())) {
    log.warn("the port on [::1] is not ours, so localhost is not answered; use 127.0.0.1", { url: file.url });
  }
}

/** The built-in agents, those of the user's file, and by project those of its file. */
function agentsOf(dist: string): ProjectAgents {
  const program = (name: string): string[] => [process.execPath, join(dist, name)];
  return openProjectAgents(thisMachine(program("demo-agent.cjs"), program("demo-acp.cjs")));
}

/** Read by the CLI that starts the next daemon: the variables have to come from its shell. Only of files that count. */
function rememberVariables(paths: Paths, store: Pick<Store, "projects">, settings: Pick<KnownSettings, "last">): void {
  const named = store
    .projects()
    .flatMap(({ id, configFile }) => (settings.last(id)?.passEnv ?? []).map((name) => ({ name, file: configFile })));
  try {
    writeAtomically(paths.configFiles, `${JSON.stringify(named)}\n`);
  } catch {
    // A full disk: the next start then passes on what the last list names.
  }
}

function commandOfWorkers(agents: ProjectAgents, programs: Programs): (session: SessionState) => WorkerCommand {
  const known = new Map<string, { path: string; files: readonly string[]; at: number }>();
  return (session) => {
    const argv = agents.of(session)?.chat?.command ?? [];
    const key = JSON.stringify([session.project, session.agent, argv]);
    const before = known.get(key);
    // Asked for every chat session on every look.
    if (before !== undefined && performance.now() - before.at < rememberPathMs) return { argv, ...before };
    const chat = { ...session, kind: "chat" as const };
    const program = programs.of(chat);
    const path = program?.is === "found" ? program.path : (process.env["PATH"] ?? "");
    const now = { path, files: programs.files(chat), at: performance.now() };
    known.set(key, now);
    return { argv, ...now };
  };
}

function readOptions(paths: Paths, log: LogFile): LaunchOptions {
  const read = readJson(paths.launchFile);
  const known = read.is === "known" ? readLaunchOptions(read.value) : null;
  if (known !== null) return known;
  if (read.is !== "absent") log.warn("the options of the last start could not be read; using defaults", { ...read });
  return defaultLaunchOptions;
}

function hasPassphrase(paths: Paths): boolean {
  try {
    return readFileSync(paths.passphrase, "utf8").trim() !== "";
  } catch {
    return false;
  }
}

/** Copied into the home, so that nothing that runs depends on where we are installed. */
function installKeeper(home: string, dist: string): { path: string; digest: string } {
  const keeperText = readFileSync(join(dist, "keeper.sh"), "utf8");
  const digest = digestOf(keeperText);
  const path = join(home, `keeper-${digest}.sh`);
  // Compared, not only looked for: a power cut right after the first start can leave it empty.
  keepWritten(path, keeperText, 0o700);
  return { path, digest };
}
