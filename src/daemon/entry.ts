/**
 * First file of the daemon. What it compiles is kept in the home, which saves a fifth of every later start; only what is
 * loaded after that is said profits, so nothing is imported here.
 */
const umask = process.umask(0o077);
const { HOLDFAST_HOME: own, XDG_STATE_HOME: state, HOME: user } = process.env;
const stateHome = state?.startsWith("/") ? state : user === undefined ? null : `${user}/.local/state`;
const home = own || (stateHome === null ? null : `${stateHome}/holdfast`);
if (home !== null) process.getBuiltinModule("node:module").enableCompileCache(`${home}/cache`);
void import("./main.ts").then(({ main }) => main(import.meta.dirname, umask));
