/** A spawn as the command line waits for it. */
import { findProgram } from "../../../base/find-program.ts";
import type { SpawnRequest } from "../../../contract/command.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { missingPrograms, notOnPath } from "../../../model/runs.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import type { Waits } from "./waits.ts";

let count = 0;

/** A program that the daemon does not find, but the user's shell does: installing it again would not help. */
export function withOwnPath(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof HoldfastError) || error.code !== "preflight-failed") return error;
  const found = missingPrograms(error.message).flatMap((program) => {
    const path = findProgram(program, env["PATH"]);
    return path === null ? [] : [{ program, path }];
  });
  if (found.length === 0) return error;
  const lines = error.message.split("\n").map((line) => {
    const own = found.find(({ program }) => line.startsWith(notOnPath(program)));
    if (own === undefined) return line;
    return `${own.program} is not on the daemon's PATH. This shell finds it at ${own.path}: the daemon was started with another PATH.`;
  });
  const hint = `Run \`holdfast restart\` here, then spawn again. Sessions keep running. ${error.hint ?? ""}`.trim();
  return new HoldfastError(error.code, lines.join("\n"), { hint, cause: error });
}

export function callSpawn(context: Context, waits: Waits, body: SpawnRequest): Promise<SessionJson> {
  if (body.wait === false) {
    return context.call("spawn", { body }).catch((error: unknown) => {
      throw withOwnPath(error, context.env);
    });
  }
  // Among the requests of one home: no other process of this machine has this pid at this time.
  const requestId = `${process.pid}-${Date.now()}-${count++}`;
  let found: string | null = null;
  return waits.during(
    {
      verb: "spawn",
      before: body.issue === undefined ? "Checking tools and repository" : "Reading the issue, checking the repository",
      find: async (own) => (found ??= (await own.call("spawning", { params: { id: requestId } })).session),
    },
    context.call("spawn", { body, requestId }).catch((error: unknown) => {
      throw withOwnPath(error, context.env);
    }),
  );
}
