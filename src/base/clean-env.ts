/**
 * The environment that the daemon, and through it every agent, gets: an allow-list, because a daemon started inside tmux,
 * another agent or npm would otherwise hand their markers on, and the agents would take themselves for nested ones.
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
]);

/** Families of names; the second half is what agents need to reach their model and their forge. */
const families = [
  /^LC_/,
  /^XDG_/,
  /_PROXY$/i,
  /^SSL_CERT_/,
  /^HOLDFAST_TEST_/,
  // Tokens and secrets of trackers under names of the person's own; agents do not get these.
  /^HOLDFAST_TRACKER_/,
  /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE|AZURE|AWS|OPENROUTER|GH|GITLAB|LINEAR)_/,
  /_API_KEY$/,
];

/** Never, even when a family above would let it in (npm passes proxies and keys on under names of its own). */
const refused = [/^npm_/i, /^(TMUX|CLAUDE_CODE_|CODEX_SANDBOX)/];

export function cleanEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || refused.some((pattern) => pattern.test(name))) continue;
    if (exact.has(name) || families.some((pattern) => pattern.test(name))) kept[name] = value;
  }
  return kept;
}
