/**
 * The environment of the daemon, and through it of every agent: an allow-list, because a daemon started inside tmux,
 * another agent or npm would otherwise pass on their markers, and agents would consider themselves nested.
 */
const exact = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TERM",
  "COLORTERM",
  "SSH_AUTH_SOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "NODE_EXTRA_CA_CERTS",
  "HOLDFAST_HOME",
  "GITHUB_TOKEN",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  // How Claude Code reaches its model and signs in; other variables with this prefix mark its own sessions.
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_VERTEX",
  "CLAUDE_CODE_USE_FOUNDRY",
  "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
  "CLAUDE_CODE_SKIP_VERTEX_AUTH",
  "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
  "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
  "CLAUDE_CODE_SUBAGENT_MODEL",
  "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
  "CLOUD_ML_REGION",
  "MAX_THINKING_TOKENS",
  "DISABLE_AUTOUPDATER",
  "DISABLE_TELEMETRY",
  "DISABLE_ERROR_REPORTING",
  "OLLAMA_HOST",
  // For builds and tests.
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
]);

/** Prefixes; the second half is for agents to reach their model and their forge. */
const families = [
  /^LC_/,
  /^XDG_/,
  /_PROXY$/i,
  /^SSL_CERT_/,
  /^HOLDFAST_TEST_/,
  // Trackers' tokens and secrets under custom names; not for agents.
  /^HOLDFAST_TRACKER_/,
  /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE|AZURE|AWS|OPENROUTER|OPENCODE|VERTEX_REGION|GH|GITLAB|LINEAR)_/,
  /_API_KEY$/,
];

/** Never, even if a prefix above matches (npm passes on proxies and keys under its own names). */
const refused = [
  /^npm_/i,
  /^(TMUX|CLAUDE_CODE_|CODEX_SANDBOX)/,
  // Set by agents for their children.
  /^GEMINI_CLI(_NO_RELAUNCH|_IDE_.*)?$/,
  /^OPENCODE_(PID|RUN_ID|PROCESS_ROLE|CALLER|CLIENT|SERVER_.*)$/,
];

/** @param more names, and prefixes that end with `*`, from the user's configuration. */
export function cleanEnvironment(env: NodeJS.ProcessEnv, more: readonly string[] = []): Record<string, string> {
  return pick(env, (name) => isPassedOn(name) || isNamed(name, more));
}

/** The variables of an environment that `passEnv` names. */
export function passedOn(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return pick(env, (name) => isNamed(name, names));
}

/** Whether every agent receives it. */
export function isPassedOn(name: string): boolean {
  if (exact.has(name)) return true;
  return !marksAnother(name) && families.some((pattern) => pattern.test(name));
}

/** Whether it marks a program as running inside tmux, another agent or npm. */
export function marksAnother(name: string): boolean {
  return !exact.has(name) && refused.some((pattern) => pattern.test(name));
}

export function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((each) =>
    each.endsWith("*") ? name.startsWith(each.slice(0, -1)) && !marksAnother(name) : each === name,
  );
}

function pick(env: NodeJS.ProcessEnv, isKept: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0])),
  );
}
