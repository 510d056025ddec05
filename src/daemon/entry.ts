/**
 * Entry point of the daemon. Compiled code is cached in the home, which saves a fifth of every later start; only modules
 * loaded after that benefit, so this file imports nothing that main.ts needs too.
 */
import { cacheHome } from "../base/cache-home.ts";

const umask = process.umask(0o077);
const home = cacheHome(process.env);
if (home !== null) process.getBuiltinModule("node:module").enableCompileCache(`${home}/cache`);
void import("./main.ts").then(({ main }) => main(import.meta.dirname, umask));
