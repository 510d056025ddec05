/**
 * The environment of a contained agent. It is cleaned before bwrap starts: /proc/1/environ inside shows everything that
 * bwrap was started with, despite `--unsetenv`. Variables set on purpose for this launch stay.
 */

/** Access to the user's keys, sessions and machines. */
const ways = /^(SSH_|DBUS_|XDG_RUNTIME_DIR$|XDG_SESSION|DOCKER_|KUBECONFIG$|WAYLAND_|DISPLAY$|XAUTHORITY$|GPG_|TMUX)/;
/** Our own variables that lead outside. */
const ours = new Set(["HOLDFAST_HOME"]);
const forges = /^(GITHUB|GH|GITLAB|LINEAR|HOLDFAST_TRACKER)_/;
/** An agent that reaches its model through a cloud needs that cloud's variables. */
const clouds: readonly { names: RegExp; switch: string }[] = [
  { names: /^AWS_/, switch: "CLAUDE_CODE_USE_BEDROCK" },
  { names: /^GOOGLE_APPLICATION_CREDENTIALS$/, switch: "CLAUDE_CODE_USE_VERTEX" },
  { names: /^AZURE_/, switch: "CLAUDE_CODE_USE_FOUNDRY" },
];
/** How agents sign in to their models: nothing works without these. */
const models =
  /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE|AZURE_OPENAI|OPENROUTER|OPENCODE|MISTRAL|GROQ|DEEPSEEK|XAI|CLAUDE_CODE)_/;
const secret = /(_API_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS)$/;

export function containedEnvironment(
  env: Readonly<Record<string, string>>,
  given: readonly string[],
): Record<string, string> {
  const onPurpose = new Set(given);
  const isKept = (name: string): boolean => {
    if (ours.has(name)) return false;
    if (onPurpose.has(name)) return true;
    if (ways.test(name) || forges.test(name)) return false;
    const cloud = clouds.find(({ names }) => names.test(name));
    if (cloud !== undefined && !name.startsWith("AZURE_OPENAI_")) return (env[cloud.switch] ?? "") !== "";
    return models.test(name) || !secret.test(name);
  };
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
