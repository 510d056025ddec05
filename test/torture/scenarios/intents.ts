/**
 * Several clients issue random verbs while the daemon is killed at random; afterwards the final intents must be ones that
 * the requests allow, every worktree must still have its bytes, and nothing may be left over.
 */
import { setTimeout as delay } from "node:timers/promises";
import { audit } from "../audit.ts";
import { ask, askCli } from "../clients.ts";
import { Random } from "../random.ts";
import type { Run, Scenario } from "../report.ts";
import { storm } from "../storm.ts";
import { World } from "../world.ts";

const clients = 4;
/** Sessions with a process at the same time; more would only measure the machine. */
const mostAlive = 6;
/** Verbs go to the newest sessions, so that each gets many. */
const shown = 12;
const verbs = {
  stop: 3,
  kill: 3,
  restore: 5,
  archive: 2,
  unarchive: 2,
  snooze: 2,
  wake: 2,
  delete: 2,
  convert: 2,
  send: 4,
  rename: 1,
};
type Verb = keyof typeof verbs;
const longSnoozeMs = 24 * 3_600_000;

export const intents: Scenario = {
  name: "intents",
  group: "storm",
  promise: "what you start keeps running, what you end stays ended, no byte of a worktree is lost",
  share: 6,
  run: async (run) => {
    await using world = await World.open({ HOLDFAST_TEST_MINUTE_MS: "1000" });
    const board: Board = { sessions: [], seen: new Set(), alive: 0 };
    await storm(run, world, {}, async (signal) => {
      await Promise.all(
        Array.from({ length: clients }, (_, client) => {
          const random = new Random(Math.floor(run.random.next() * 2 ** 31), `client ${client}`);
          return actAsClient(run, world, { client, random, board }, signal);
        }),
      );
    });
    await audit(run, world);
    run.say(
      `${board.seen.size} sessions, ${world.ledger.lines().filter(({ event }) => event === "work").length} worktrees by checksum`,
    );
  },
};

interface Client {
  client: number;
  random: Random;
  board: Board;
}

/** The sessions that the clients know. */
interface Board {
  sessions: string[];
  seen: Set<string>;
  alive: number;
}

async function actAsClient(run: Run, world: World, self: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await act(run, world, self);
    await delay(self.random.between(5, 120));
  }
}

async function act(run: Run, world: World, self: Client): Promise<void> {
  const { client, random, board } = self;
  if (random.chance(0.1) || board.sessions.length === 0) await refresh(world, board);
  if (board.alive < mostAlive && random.chance(0.3)) {
    const kind = random.pick(["chat", "terminal"] as const);
    const wait = random.chance(0.5);
    const of = ({ id }: { id: string }): string => id;
    board.alive++;
    const made = await ask(run, world, { client, verb: "spawn", session: null, of }, () =>
      world.call("spawn", "", { body: { project: "my-app", kind, wait } }),
    );
    if (made.answer !== null) board.sessions.push(made.answer.id);
    return;
  }
  if (board.sessions.length === 0) return;
  const session = random.pick(board.sessions);
  const verb = random.weighted(verbs);
  // One in eight through the CLI, which starts a daemon if none runs.
  if (random.chance(0.12) && (verb === "stop" || verb === "kill" || verb === "restore" || verb === "archive")) {
    const args = ["session", verb, session, ...(random.chance(0.5) ? ["--no-wait"] : [])];
    await askCli(run, world, { client, verb, session }, args);
    return;
  }
  await ask(run, world, { client, verb, session, refused }, () => issue(world, verb, session, random));
}

/** A receipt may be a refusal. */
const refused = (answer: unknown): boolean => (answer as { disposition?: string }).disposition === "refused";

/** Also finds sessions whose spawn was interrupted. */
async function refresh(world: World, board: Board): Promise<void> {
  try {
    const sessions = await world.call("sessions");
    for (const { id } of sessions) board.seen.add(id);
    board.sessions = sessions.map(({ id }) => id).slice(-shown);
    board.alive = sessions.filter(({ intent }) => intent.want === "running").length;
  } catch {
    // No daemon right now.
  }
}

function issue(world: World, verb: Verb, session: string, random: Random): Promise<unknown> {
  const body = { wait: random.chance(0.5) };
  switch (verb) {
    case "snooze":
      return world.call("snooze", session, { body: { ...body, forMs: longSnoozeMs } });
    case "rename":
      return world.call("rename", session, { body: { title: `title ${Math.floor(random.next() * 1000)}` } });
    case "send": {
      const promptId = `s-${Math.floor(random.next() * 2 ** 31).toString(36)}`;
      return world.call("prompt", session, { body: { promptId, text: `token-${promptId}`, waitMs: 0 } });
    }
    case "convert":
      return world.call("convert", session, {
        body: { kind: random.pick(["chat", "terminal"] as const), fresh: true, ...body },
      });
    case "stop":
    case "kill":
    case "restore":
    case "archive":
    case "unarchive":
    case "wake":
    case "delete":
      return world.call(verb, session, { body });
    default:
      return verb satisfies never;
  }
}
