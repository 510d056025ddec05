/** `holdfast info` and `session ls` of 50 sessions against `node -e 0` of the same Node, in turns. About ten seconds. */
import { spawnSync } from "node:child_process";
import { atMost, print, ratio, summarise } from "./lib/figure.ts";
import { launcher, makeHome } from "./lib/home.ts";
import { startDaemon, stopwatch, type Elapsed } from "./lib/processes.ts";

const rounds = 21;
const sessions = 50;
/** The product's goal: times an empty run of the same Node. */
const goal = 1.7;

const home = await makeHome(sessions);
try {
  await using daemon = await startDaemon(home);
  const { by, time } = stopwatch();
  const programs = {
    "node -e 0": [process.execPath, "-e", "0"],
    info: [launcher, "info"],
    "session ls": [launcher, "session", "ls"],
    "session ls --json": [launcher, "session", "ls", "--json"],
  };
  const check = spawnSync(launcher, ["session", "ls", "--json"], { env: home.env, encoding: "utf8" });
  if (check.status !== 0 || (JSON.parse(check.stdout) as unknown[]).length !== sessions) {
    throw new Error(`session ls did not list ${sessions} sessions of daemon ${daemon.pid}: ${check.stderr}`);
  }
  const times: Record<string, Elapsed[]> = {};
  // The first round fills the caches of the file system and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [what, argv] of Object.entries(programs)) {
      const elapsed = time(argv, home.env);
      if (round > 0) (times[what] ??= []).push(elapsed);
    }
  }
  const wall = (what: string): number[] => (times[what] ?? []).map((elapsed) => elapsed.ms);
  const cpu = (what: string): number[] => (times[what] ?? []).flatMap((elapsed) => elapsed.cpuMs ?? []);
  const floor = "node -e 0";
  const { median } = summarise(wall(floor));
  print({ bench: "cli", what: floor, measured: median, unit: "ms", ms: summarise(wall(floor)), by, rounds });
  for (const what of Object.keys(programs).filter((name) => name !== floor)) {
    const { median, min, max } = ratio(wall(what), wall(floor));
    const more = {
      spread: [min, max],
      cpuRatio: ratio(cpu(what), cpu(floor)).median,
      ms: summarise(wall(what)),
      by,
      rounds,
    };
    print({ bench: "cli", what, measured: median, unit: `x ${floor}`, ...atMost(median, goal), ...more });
  }
} finally {
  home.remove();
}
