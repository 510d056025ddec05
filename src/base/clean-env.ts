/**
 * The environment of the daemon and of every agent: an allow list. A daemon started inside tmux, another agent or npm
 * would otherwise pass their markers on, and agents would take themselves for nested ones.
 */

/** Names, and prefixes that end with `*`. */
export interface AgentVariables {
  reads: readonly string[];
  /** Set by an agent for its children; dropped unless `reads` has the exact name. */
  marks: readonly string[];
}

const noAgents: AgentVariables = { reads: [], marks: [] };

const general: AgentVariables = {
  reads: [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TERM",
    "COLORTERM",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "SSL_CERT_*",
    "DBUS_SESSION_BUS_ADDRESS",
    "NODE_EXTRA_CA_CERTS",
    "HOLDFAST_HOME",
    "HOLDFAST_TEST_*",
    // Tokens and secrets of trackers under the user's own names; agents do not get these.
    "HOLDFAST_TRACKER_*",
    // Code hosts, trackers and clouds.
    "GITHUB_TOKEN",
    "GH_*",
    "GITLAB_*",
    "LINEAR_*",
    "AWS_*",
    // Builds and tests.
    "JAVA_HOME",
    "ANDROID_HOME",
    "GOPATH",
    "GOROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "SDKMAN_DIR",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "KUBECONFIG",
  ],
  marks: ["TMUX*"],
};

const isKey = /_API_KEY$/;
const isProxy = /_PROXY$/i;
/** npm passes proxies and keys on under its own names, in either case. */
const npm = /^npm_/i;

/** @param more names, and prefixes that end with `*`, from the user's configuration. */
export function cleanEnvironment(
  env: NodeJS.ProcessEnv,
  agents: AgentVariables,
  more: readonly string[] = [],
): Record<string, string> {
  return pick(env, (name) => isPassedOn(name, agents) || isNamed(name, more, agents));
}

/** The variables of a clean environment that a `passEnv` names. */
export function passedOn(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return pick(env, (name) => isNamed(name, names, noAgents));
}

/** Whether every agent gets it. */
export function isPassedOn(name: string, agents: AgentVariables): boolean {
  const reads = [...general.reads, ...agents.reads];
  if (reads.includes(name)) return true;
  return (
    !marksAnother(name, agents) &&
    (isKey.test(name) || isProxy.test(name) || reads.some((pattern) => hasPrefix(name, pattern)))
  );
}

/** Whether it marks a program as running inside tmux, another agent or npm. */
export function marksAnother(name: string, agents: AgentVariables): boolean {
  if (general.reads.includes(name) || agents.reads.includes(name)) return false;
  const marks = [...general.marks, ...agents.marks];
  return npm.test(name) || marks.some((pattern) => pattern === name || hasPrefix(name, pattern));
}

export function isNamed(name: string, names: readonly string[], agents: AgentVariables): boolean {
  return names.some((pattern) => pattern === name || (hasPrefix(name, pattern) && !marksAnother(name, agents)));
}

function hasPrefix(name: string, pattern: string): boolean {
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}

function pick(env: NodeJS.ProcessEnv, isKept: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0])),
  );
}
