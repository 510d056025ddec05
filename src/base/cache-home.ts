/**
 * The home, by the environment alone, for the first files of both programs: what they switch on before anything else is
 * loaded is kept there. In syntax that an old Node parses, and as `resolvePaths` has it.
 */
export function cacheHome(env: NodeJS.ProcessEnv): string | null {
  const own = env["HOLDFAST_HOME"];
  if (own) return own;
  const state = env["XDG_STATE_HOME"];
  if (state && state.charAt(0) === "/") return state + "/holdfast";
  return env["HOME"] ? env["HOME"] + "/.local/state/holdfast" : null;
}
