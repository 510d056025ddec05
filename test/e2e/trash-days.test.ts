import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TrashJson } from "../../src/contract/trash.ts";
import { whileStopped } from "../harness/marked.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

interface Clocks {
  home: ProjectHome;
  /** Sets the time of day alone. */
  jump: (ms: number) => void;
  /** Time passes: both clocks move. */
  pass: (ms: number) => Promise<void>;
  /** Waits until the policies have run with the clocks as they are now. */
  look: () => Promise<void>;
}

async function make(): Promise<Clocks> {
  const home = await ProjectHome.make({ HOLDFAST_TEST_MINUTE_MS: "50" });
  await home.ok(["stop"]);
  const files = { wall: join(home.directory, "wall"), up: join(home.directory, "up") };
  Object.assign(home.env, { HOLDFAST_TEST_CLOCK: files.wall, HOLDFAST_TEST_UPTIME: files.up });
  // Renamed into place: the daemon may read it at any moment, and an empty file is another time.
  const write = (file: string, ms: number): void => {
    writeFileSync(`${file}.new`, String(ms));
    renameSync(`${file}.new`, file);
  };
  const read = (file: string): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  // At noon, so that the test's own duration does not change the date.
  write(files.wall, day / 2 - (Date.now() % day));
  write(files.up, 0);
  await home.ok(["start", "--port", "0"]);
  return {
    home,
    jump: (ms) => write(files.wall, read(files.wall) + ms),
    pass: (ms) =>
      // Otherwise it may read one clock before and the other after: that is a jump.
      whileStopped(home.daemon().pid, () => {
        write(files.up, read(files.up) + ms);
        write(files.wall, read(files.wall) + ms);
      }),
    look: async () => {
      // They run one at a time: the second started after the first was done.
      for (let looks = 0; looks < 2; looks += 1) {
        rmSync(join(home.points, "policies.ran.reached"), { force: true });
        await home.reached("policies.ran");
      }
    },
  };
}

const kept = async (home: ProjectHome): Promise<string[]> =>
  (await home.json<TrashJson[]>(["trash", "ls"])).map(({ session }) => session);

async function killDirty(home: ProjectHome): Promise<{ id: string; workspacePath: string }> {
  const { id, workspacePath } = await home.spawn();
  writeFileSync(join(workspacePath, "only-here.txt"), "keep me\n");
  await home.ok(["session", "kill", id]);
  return { id, workspacePath };
}

test("[TRASH-9] a clock that is behind, ahead, or both in turn empties nothing, across daemon restarts", async () => {
  const { home, jump, pass, look } = await make();
  await using _ = home;
  jump(-30 * day);
  const { id, workspacePath } = await killDirty(home);
  await look();
  for (const ms of [30 * day, 20 * day, -20 * day, 400 * day, -400 * day]) {
    jump(ms);
    if (ms > 100 * day) await home.crash();
    if (ms > 100 * day) await home.ok(["start"]);
    await look();
    await pass(15 * minute);
    await look();
    expect(await kept(home), String(ms / day)).toEqual([id]);
  }
  await home.ok(["session", "restore", id]);
  expect(readFileSync(join(workspacePath, "only-here.txt"), "utf8")).toBe("keep me\n");
});

test("[TRASH-8][TRASH-11] after 14 days on which a daemon ran an entry is removed, on the printed date", async () => {
  const { home, pass, look } = await make();
  await using _ = home;
  await look();
  await pass(15 * minute);
  await look();
  const { id } = await killDirty(home);
  await look();
  const listed = await home.ok(["trash", "ls"]);
  const named = /kept until (\d{4}-\d\d-\d\d)/.exec(listed)?.[1] ?? listed;
  for (let days = 1; days <= 15; days += 1) {
    expect(await kept(home), `${days} days`).toEqual([id]);
    await pass(day);
    await look();
  }
  await until("the entry to be gone", async () => (await kept(home)).length === 0);
  const now = Date.now() + Number(readFileSync(join(home.directory, "wall"), "utf8"));
  expect(new Date(now).toISOString().slice(0, 10)).toBe(named);
  const reasons = (await home.events(id)).flatMap((event) =>
    event.type === "workspace.gone" ? [event["reason"]] : [],
  );
  expect(reasons).toEqual(["kept 14 days in the trash"]);
});
