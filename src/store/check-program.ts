/** Prints the database finding of `doctor`. */
import { resolvePaths } from "../base/paths.ts";
import { checkDatabase } from "./check.ts";

process.umask(0o077);
console.log(JSON.stringify(checkDatabase(resolvePaths())));
