/**
 * First file of the daemon. What it compiles is kept in the home, which saves a fifth of every later start; only what is
 * loaded after that is said profits, so nothing that main.ts needs as well is imported here.
 */
import { cacheHome } from "../base/cache-home.ts";

const umask = process.umask(0o077);
const home = cacheHome(process.env);
if (home !== null) process.getBuiltinModule("node:module").enableCompileCache(`${home}/cache`);
void import("./main.ts").then(({ main }) => main(import.meta.dirname, umask));
