/** Finds what the `codex-acp` script starts. */
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";

/** The script stays as the program's parent and passes no signal on. Null where it is no script of that package. */
export function codexAcpProgram(script: string): string | null {
  try {
    const platform = `${process.platform}-${process.arch}`;
    const program = createRequire(script).resolve(`@zed-industries/codex-acp-${platform}/bin/codex-acp`);
    accessSync(program, constants.X_OK);
    return program;
  } catch {
    return null;
  }
}
