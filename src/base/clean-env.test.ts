import { expect, test } from "vitest";
import { agentVariables } from "../agents/registry.ts";
import { cleanEnvironment, isPassedOn, passedOn } from "./clean-env.ts";

const names = (...list: string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(list.map((name) => [name, `value of ${name}`]));

test("[CLI-40] variables of a terminal, another agent, npm or systemd are not passed on", () => {
  const refused = names(
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    "STY",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CLAUDE_CODE_SSE_PORT",
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "OPENCODE",
    "OPENCODE_PID",
    "OPENCODE_SERVER_PASSWORD",
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
  expect(cleanEnvironment(refused, agentVariables)).toEqual({});
});

test("[CLI-40] variables that programs and agents need are unchanged", () => {
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
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLOUD_ML_REGION",
    "OLLAMA_HOST",
    "OPENCODE_CONFIG",
    "DISABLE_AUTOUPDATER",
    "JAVA_HOME",
    "DOCKER_HOST",
    "GOPATH",
    "VIRTUAL_ENV",
    "NVM_DIR",
  );
  expect(cleanEnvironment(kept, agentVariables)).toEqual(kept);
});

test("[CLI-41] passEnv adds names, and prefixes that let in no mark of another session", () => {
  const env = names("MY_TOKEN", "ACME_A", "ACME_B", "TMUX", "TMUX_PANE", "OTHER", "PATH");
  expect(Object.keys(passedOn(env, ["MY_TOKEN", "ACME_*", "TMUX*", "UNSET"]))).toEqual([
    "MY_TOKEN",
    "ACME_A",
    "ACME_B",
  ]);
  expect(Object.keys(cleanEnvironment(env, agentVariables, ["OTHER"]))).toEqual(["OTHER", "PATH"]);
  expect([isPassedOn("MY_TOKEN", agentVariables), isPassedOn("MY_API_KEY", agentVariables)]).toEqual([false, true]);
});
