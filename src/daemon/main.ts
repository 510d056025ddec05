/**
 * Composition: the only file that knows every adapter. Order matters: the lock comes first, the store before anything that
 * acts, a first observation of every session before the API listens, and the report to the starter last.
 */
import { dirname, join } from "node:path";
import { openProjectAgents } from "../agents/project-agents.ts";
import { agentVariables, idsWithoutTrust, thisMachine } from "../agents/registry.ts";
import { createAuthorize } from "../api/authorize.ts";
import { selfCheck } from "../api/doctor.ts";
import { createHandlers } from "../api/handlers.ts";
import { createTail } from "../api/stream.ts";
import { createTerminals } from "../api/terminal.ts";
import { openCgroups, type Cgroups } from "../base/cgroup.ts";
import { makePrivateDirectory } from "../base/durable-file.ts";
import { bootId } from "../base/pid.ts";
import { build, uptimeMs, version } from "../base/program.ts";
import { run as runProgram } from "../base/run.ts";
import { reach } from "../base/test-points.ts";
import { agentBuilds, agentCommands, installKeeper } from "../chat/agent-builds.ts";
import { createIngest } from "../chat/ingest.ts";
import { openAcpRuntime } from "../chat/runtime.ts";
import { openLazyProjects } from "../config/lazy-projects.ts";
import { openRules } from "../config/permission-rules.ts";
import { takingOver } from "../contain/contained.ts";
import { openOuter } from "../contain/outer.ts";
import type { SessionId } from "../contract/ids.ts";
import { LazyPush } from "../integrations/notifiers/lazy-push.ts";
import { LazyTracking, newDeviceNote, type LazyTrackingOptions } from "../integrations/trackers/lazy-tracking.ts";
import type { Store } from "../ports/store.ts";
import { openAccess, type Access } from "../server/access.ts";
import { assertMayListen } from "../server/hosts.ts";
import { noticePassphraseChange } from "../server/passphrase.ts";
import { createApi, type Api } from "../server/server.ts";
import { openStore } from "../store/open.ts";
import { openCallers, openCapabilities } from "../supervisor/callers/callers.ts";
import { createExecutor } from "../supervisor/execute/execute.ts";
import { knownAgents } from "../supervisor/known-agents.ts";
import { knownSettings, openSavedEnvironment } from "../supervisor/known-settings.ts";
import { Loop } from "../supervisor/loop.ts";
import { openRuleBook } from "../supervisor/permission-rules.ts";
import { startPolicies } from "../supervisor/policies.ts";
import { openPrograms } from "../supervisor/programs.ts";
import type { Services } from "../supervisor/services.ts";
import { Transcripts } from "../supervisor/transcripts.ts";
import { keptTrust, trustNotes } from "../supervisor/trust-answers.ts";
import { recordConversions } from "../supervisor/unrecorded.ts";
import { openTmuxRuntime } from "../terminal/runtime.ts";
import { runGit } from "../worktree/git/git.ts";
import { openWorktrees } from "../worktree/worktrees.ts";
import { listen, tlsOf } from "./choose-port.ts";
import { settleHome } from "./home-identity.ts";
import { DaemonFacts, publish, rememberVariables, reportReady } from "./published.ts";
import {
  baseEnvironment,
  hasPassphrase,
  homeChoice,
  mayHalt,
  outsideOfUnit,
  startProcess,
  type Start,
} from "./this-process.ts";

/** A stop takes less than a second: the next daemon repeats an interrupted action. */
const stopGraceMs = 300;

/** The setting that caches the agents defined in the configuration files. */
const keptAgents = "config.agents";

/**
 * @param dist the directory of the built program.
 * @param umask the umask of the process that started it.
 */
export async function main(dist: string, umask: number): Promise<void> {
  await startProcess(dist, umask, run);
}

async function run(start: Start): Promise<void> {
  const { paths, owner, log, options } = start;
  assertMayListen(options.host, options.auth, hasPassphrase(paths));
  await reach("daemon.locked");
  const store = openDatabase(start);
  // Before anything observes agents: the records of a copied home name the original's.
  const home = await settleHome(store, paths, { answer: homeChoice(), log });
  const config = await openConfiguration(start, store);
  const machine = openMachine(start, store, config, home.id);
  await config.known.begin(await config.projects.agents(store.projects()), config.settings);

  const polled = { pullRequests: new Map<SessionId, number>(), issues: new Map<SessionId, number>() };
  const services: Services = {
    ...config,
    ...machine,
    store,
    clock: { now: Date.now, bootId, uptime: uptimeMs },
    log,
    worktrees: paths.worktrees,
    home: paths.home,
    agentsSocket: paths.agentsSocket,
    capabilities: openCapabilities(store),
    restore: options.restore,
    polledAt: (id) => polled.pullRequests.get(id) ?? null,
    issuePolledAt: (id) => polled.issues.get(id) ?? null,
  };
  const loop = await startLoop(start, services);
  void machine.runtimes.terminal
    .clearDeleted((id) => store.wasUsed(id) && store.session(id) === null)
    .catch((error: unknown) => log.warn("could not remove files of deleted sessions", { error }));
  for (const [name, close] of machine.outer.watch(services)) owner.owns(name, close);
  const push = openPush(start);
  const tracking = openTracking(start, services, loop, { polled, push });
  const access = await openDevices(start, store, push);

  const daemon = new DaemonFacts(start);
  const api = openApi(start, services, loop, access, { daemon, tracking, push, cgroups: machine.cgroups });
  makePrivateDirectory(dirname(paths.socket));
  await api.listenSocket(paths.socket);
  await api.listenSocket(paths.agentsSocket, "agents");
  const listening = await listen(api, options, store, log);
  daemon.url = listening.url;
  machine.contain.showSocket();
  // Before any client can find this daemon and stop it.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void start.stop(signal));
  publish(start, daemon, api);
  rememberVariables(services, paths.configFiles);
  reportReady(start, daemon, [...listening.notes, ...home.notes, ...(await trustNotes(services))]);
  // Browsers try [::1] first for `localhost`.
  if (await api.listenIpv6()) return;
  const { url } = daemon;
  log.warn("another program listens on this port of [::1]; use 127.0.0.1 instead of localhost", { url });
}

function openDatabase({ paths, owner, log }: Start): Store {
  const store = openStore({
    path: paths.database,
    backupsDirectory: paths.backups,
    reservePath: paths.reserve,
    now: Date.now,
    log,
  });
  owner.owns("store", () => store.close());
  return store;
}

/** Agents, projects with their trust and settings, programs and permission rules. */
async function openConfiguration({ dist, paths, log }: Start, store: Store) {
  const program = (name: string): string[] => [process.execPath, join(dist, name)];
  const agents = openProjectAgents(thisMachine(program("demo-agent.cjs"), program("demo-acp.cjs")));
  const known = knownAgents(agents, { store, log });
  const trust = keptTrust(store, Date.now);
  const projects = openLazyProjects(
    {
      userConfig: paths.config,
      trust,
      onAgents: (project, found) => known.learn(project, found),
      kept: { get: () => store.getSetting(keptAgents), put: (text) => store.putSetting(keptAgents, text) },
    },
    build,
  );
  const settings = knownSettings({
    store,
    projects,
    log,
    trust,
    keptEnv: openSavedEnvironment(paths.projectEnv, log),
    agentsWithoutTrust: idsWithoutTrust,
  });
  // Only saves space and secrets: a full disk must not keep the daemon from starting.
  await settings.forgetValues().catch((error: unknown) => log.warn("could not clean up stored settings", { error }));
  const programs = openPrograms({ agents, settings, store });
  const rules = openRuleBook({ source: openRules(paths.config), store, log });
  return { agents, known, trust, projects, settings, programs, rules };
}

type Configuration = Awaited<ReturnType<typeof openConfiguration>>;

/** Everything that touches the machine for sessions: containment, runtimes, worktrees. */
function openMachine(start: Start, store: Store, config: Configuration, home: string) {
  const { dist, paths, owner, log, lock } = start;
  const { agents, settings, programs, rules } = config;
  const { serverPrefix, cgroupsRefused } = outsideOfUnit();
  const outer = openOuter({
    home: paths.home,
    contained: paths.contained,
    hidden: [...new Set([paths.home, dirname(paths.worktrees), paths.trash, dirname(paths.config)])],
    agents,
    agentsSocket: paths.agentsSocket,
    git: runGit,
    shared: async ({ project }) => {
      const { path, symlinks } = await settings.forSession(project);
      return symlinks.map((name) => join(path, name));
    },
    node: process.execPath,
    programs: dist,
    env: process.env,
    launchPrefix: serverPrefix,
    log,
  });
  const { contain } = outer;
  const cgroups = openCgroups(paths.tmuxSocket, cgroupsRefused);
  const common = { agents, bootId: bootId(), env: baseEnvironment(agentVariables), cgroups, contain, log };
  const terminal = openTmuxRuntime({
    ...common,
    socketName: paths.tmuxSocket,
    configDirectory: paths.tmux,
    launchesDirectory: paths.launches,
    home,
    serverPrefix,
  });
  owner.owns("tmux", () => terminal.close());
  const transcripts = new Transcripts(store);
  owner.owns("transcripts", () => transcripts.close());
  const { ingest, close: closeIngest } = createIngest(
    { store, agents, rules },
    { onTurnEnd: (session) => transcripts.turnEnded(session) },
  );
  owner.owns("ingest", closeIngest);
  const keeper = installKeeper(paths.home, dist);
  const builds = agentBuilds(keeper.digest);
  const commandOf = agentCommands(agents, programs);
  const chat = openAcpRuntime({
    ...common,
    workersDirectory: paths.workers,
    keeperPath: keeper.path,
    buildOf: (session) => builds.of(commandOf(session)),
    isStale: (session, recorded) => builds.isStale(commandOf(session), recorded),
    store,
    ingest,
    stillOurs: () => lock.isOurs(),
  });
  owner.owns("chat", () => chat.close());
  for (const runtime of [terminal, chat]) outer.attach(runtime);
  const worktrees = openWorktrees({
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
  return { outer, contain, cgroups, transcripts, runtimes: { terminal, chat }, workspaces };
}

async function startLoop({ owner }: Start, services: Services): Promise<Loop> {
  const loop = new Loop(services, createExecutor(services));
  owner.owns("loop", () => loop.close(stopGraceMs));
  await recordConversions(services);
  await loop.start();
  await reach("daemon.reconciled");
  owner.owns("policies", startPolicies(services, loop));
  return loop;
}

function openPush({ paths, owner, log }: Start): LazyPush {
  const push = new LazyPush(paths.push, async () => {
    const { WebPush } = await import("../integrations/notifiers/web-push.ts");
    // Only a test has its push service on this machine.
    const loopback = process.env["HOLDFAST_TEST_POINTS"] !== undefined;
    return new WebPush({ file: paths.push, now: Date.now, log, hide: (secret) => log.hide(secret), loopback });
  });
  owner.owns("push", () => push.close());
  return push;
}

function openTracking(
  { paths, owner }: Start,
  services: Services,
  loop: Loop,
  given: Pick<LazyTrackingOptions, "polled" | "push">,
): LazyTracking {
  const configDir = dirname(paths.config);
  const tracking = new LazyTracking(services, loop, {
    ...given,
    trackers: async () => {
      const { createTrackers } = await import("../integrations/trackers/trackers.ts");
      return createTrackers({ env: process.env, run: runProgram, configDir, now: Date.now });
    },
  });
  owner.owns("tracking", () => tracking.close());
  tracking.start();
  return tracking;
}

async function openDevices({ paths, owner, log, options }: Start, store: Store, push: LazyPush): Promise<Access> {
  const access = openAccess({
    tokenFile: paths.token,
    passphraseFile: paths.passphrase,
    mode: options.auth,
    settings: { get: (key) => store.getSetting(key), put: (key, value) => store.putSetting(key, value) },
    now: Date.now,
    log,
  });
  owner.owns("access", () => access.settled());
  const onPassphraseChanged = async (): Promise<void> => {
    await access.revokeAll();
    await push.removeOf(null);
  };
  await noticePassphraseChange({ markFile: paths.passphraseMark, store, onPassphraseChanged, log });
  return access;
}

interface ApiServices {
  daemon: DaemonFacts;
  tracking: LazyTracking;
  push: LazyPush;
  cgroups: Pick<Cgroups, "state">;
}

function openApi(start: Start, services: Services, loop: Loop, access: Access, given: ApiServices): Api {
  const { dist, paths, owner, log, options } = start;
  const { daemon, tracking, push, cgroups } = given;
  const { readOnly } = options;
  const handlers = createHandlers(services, loop, {
    info: () => daemon.info(),
    shutDown: () => void setImmediate(() => void start.stop("requested")),
    readOnly,
    onProjects: () => rememberVariables(services, paths.configFiles),
    configFile: paths.config,
    cli: [process.execPath, join(dist, "cli.cjs")],
    selfCheck: () => selfCheck(services, paths, cgroups.state),
    tracking,
    push,
  });
  const api = createApi({
    handlers,
    authorize: createAuthorize(services),
    callers: openCallers(services, services.capabilities, paths.tmuxSocket),
    tail: createTail(services, loop),
    terminals: createTerminals(services),
    access,
    webDirectory: join(dist, "web"),
    version,
    build,
    readOnly,
    publicUrls: options.publicUrls,
    tls: tlsOf(options),
    mayHalt,
    onRevoked: (devices) => push.removeOf(devices),
    onNewDevice: (device) => void tracking.announce(newDeviceNote(device, Date.now())),
    log,
  });
  owner.owns("api", () => api.close());
  return api;
}
