/** A spawn as the command line waits for it. */
import type { SpawnRequest } from "../protocol/command.ts";
import type { SessionJson } from "../protocol/wire.ts";
import type { Context } from "./context.ts";
import type { Waits } from "./waits.ts";

let count = 0;

export function callSpawn(context: Context, waits: Waits, body: SpawnRequest): Promise<SessionJson> {
  if (body.wait === false) return context.call("spawn", { body });
  // Among the requests of one home: no other process of this machine has this pid at this time.
  const requestId = `${process.pid}-${Date.now()}-${count++}`;
  let found: string | null = null;
  return waits.during(
    {
      verb: "spawn",
      before: body.issue === undefined ? "Checking tools and repository" : "Reading the issue, checking the repository",
      find: async (own) => (found ??= (await own.call("spawning", { params: { id: requestId } })).session),
    },
    context.call("spawn", { body, requestId }),
  );
}
