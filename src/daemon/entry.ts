/** First file of the daemon: what it compiles is kept in the home, which saves a tenth of every later start. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { resolvePaths } from "../base/paths.ts";
import { becomePrivate } from "../base/umask.ts";

becomePrivate();
enableCompileCache(join(resolvePaths().home, "cache"));
void import("./main.ts").then(({ main }) => main(import.meta.dirname));
