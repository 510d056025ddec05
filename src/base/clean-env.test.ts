import { expect, test } from "vitest";
import { cleanEnvironment } from "./clean-env.ts";

const names = (...list: string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(list.map((name) => [name, `value of ${name}`]));

test("[PROC-11] what a terminal, another agent, npm or systemd put there is not passed on", () => {
  const refused = names(
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    "STY",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "HOLDFAST_SESSION",
    "HOLDFAST_PASSPHRASE",
    "npm_config_registry",
    "npm_lifecycle_event",
    "npm_config_https_proxy",
    "NPM_CONFIG_MY_API_KEY",
    "NODE_OPTIONS",
    "INVOCATION_ID",
    "NOTIFY_SOCKET",
    "OLDPWD",
    "PS1",
    "SOMETHING_ELSE",
    "LD_PRELOAD",
  );
  expect(cleanEnvironment(refused)).toEqual({});
});

test("[PROC-11] what programs and agents need is kept as it is", () => {
  const kept = names(
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "HOLDFAST_TRACKER_TOKEN",
    "LANG",
    "LC_ALL",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TERM",
    "COLORTERM",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTPS_PROXY",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "HOLDFAST_HOME",
    "HOLDFAST_TEST_POINTS",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_CLOUD_PROJECT",
    "AZURE_OPENAI_ENDPOINT",
    "AWS_PROFILE",
    "OPENROUTER_API_KEY",
    "MISTRAL_API_KEY",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "LINEAR_API_KEY",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
  );
  expect(cleanEnvironment(kept)).toEqual(kept);
});
