/**
 * Prints on stderr why it cannot work, and exits without reading anything. EXITS_WITH: the code (default 1). EXITS_LEFT: a
 * file with the number of times; after that, and without the file, it behaves.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { serve } from "./rpc.ts";

const counter = process.env["EXITS_LEFT"];
const left = counter === undefined ? 1 : existsSync(counter) ? Number(readFileSync(counter, "utf8")) : 0;
if (left > 0) {
  if (counter !== undefined) writeFileSync(counter, String(left - 1));
  process.stderr.write("cannot start: no key is set\n");
  process.exit(Number(process.env["EXITS_WITH"] ?? 1));
}
serve();
