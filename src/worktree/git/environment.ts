/**
 * The environment that git and postCreate commands get: an allow-list. A daemon that was started inside an agent, tmux
 * or a git hook would otherwise pass on GIT_DIR, TMUX or an agent's own variables.
 */
const passedOn = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "TZ",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
]);
const passedOnPrefixes = ["LC_", "XDG_"];
const proxies = /^(https?|no|all|ftp)_proxy$/i;

export function cleanEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined) continue;
    if (passedOn.has(name) || proxies.test(name) || passedOnPrefixes.some((prefix) => name.startsWith(prefix))) {
      kept[name] = value;
    }
  }
  return kept;
}
