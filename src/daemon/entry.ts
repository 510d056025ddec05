/** Entry point of the daemon. Only what is loaded after this file is cached, so it imports nothing else. */
import { cacheCompiledCode, cacheHome } from "../base/code-cache.ts";

const umask = process.umask(0o077);
const home = cacheHome(process.env);
if (home !== null) cacheCompiledCode(home);
void import("./main.ts").then(({ main }) => main(import.meta.dirname, umask));
