/** The chat half of a daemon in its own process, to be killed at any moment: adopts running agents and continues reading. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bootId } from "../../src/base/pid.ts";
import { createIngest } from "../../src/chat/ingest.ts";
import { asPromptId } from "../../src/contract/ids.ts";
import { openAcpRuntime } from "../../src/chat/runtime.ts";
import { openStore } from "../../src/store/open.ts";

const directory = process.argv[2]!;
const agents = { of: () => null, list: () => [] };
const store = openStore({
  path: join(directory, "holdfast.db"),
  backupsDirectory: join(directory, "backups"),
  reservePath: null,
  now: Date.now,
});
const { ingest } = createIngest({ store, agents });
const runtime = openAcpRuntime({
  workersDirectory: join(directory, "acp-workers"),
  keeperPath: "",
  agents,
  bootId: bootId(),
  env: {},
  buildOf: () => "",
  store,
  ingest,
  stillOurs: () => true,
});
process.stdout.write("ready\n");
for (;;) {
  await runtime.observe(store.sessions());
  for (const session of store.sessions()) {
    const [next] = session.queue;
    if (next === undefined || session.turn.turn === "open") continue;
    const { text } = store.prompt(session.id, next.promptId)!;
    await runtime.send(session, { promptId: asPromptId(next.promptId), text });
  }
  // Only for the test: its own store must not be open while this one is.
  if (store.sessions().every((session) => session.queue.length === 0 && session.turn.turn !== "open")) process.exit(0);
  await delay(5);
}
