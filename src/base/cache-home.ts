/**
 * The home, from the environment alone, for the entry files of both programs: they turn on the compile cache, which is
 * in the home, before anything else is loaded. In syntax that an old Node parses, and consistent with `resolvePaths`.
 */
export function cacheHome(env: NodeJS.ProcessEnv): string | null {
  const own = env["HOLDFAST_HOME"];
  if (own) return own;
  const state = env["XDG_STATE_HOME"];
  if (state && state.charAt(0) === "/") return state + "/holdfast";
  return env["HOME"] ? env["HOME"] + "/.local/state/holdfast" : null;
}
