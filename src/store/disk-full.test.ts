import { existsSync, mkdirSync, rmdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asSessionId } from "../contract/ids.ts";
import type { Store } from "../ports/store.ts";
import { created, errorOf, intent, makeHome, output, type Home } from "./store.fixture.ts";
import { reserveBytes } from "./reserve.ts";

const one = asSessionId("ma-1");
const two = asSessionId("ma-2");
const pageBytes = 4096;
const big = output("x".repeat(2 * pageBytes));

/** A disk of so many pages, of which the reserve takes its part while it is there. */
interface Disk {
  home: Home;
  reserve: string;
  store: Store;
  pages: number;
  free: number;
}

describe("a full disk", () => {
  it("[STORE-4] fails every change of a commit that fails, and changes nothing", async () => {
    const disk = await fullDisk();
    const { store } = disk;
    const before = [store.sessions(), store.log(0, 1000), store.cursor()];
    let told = 0;
    store.onCommit(() => told++);
    const results = await Promise.allSettled([
      store.commit(one, () => [output("small")]),
      store.commit(two, () => [big]),
      store.create(created("ma-3")),
      store.nextNumber("ma"),
    ]);
    for (const result of results) expect(result).toMatchObject({ status: "rejected", reason: { code: "disk-full" } });
    expect([store.sessions(), store.log(0, 1000), store.cursor(), told]).toEqual([...before, 0]);
    expect(store.wasUsed("ma-3")).toBe(false);
    // Space is back: the same store goes on, without a gap.
    disk.pages += 1000;
    expect((await store.commit(one, () => [output("again")])).seq).toBe(store.events(one, 0, 1000).length);
    expect(store.verify()).toEqual([]);
  });

  it("[DAEMON-23] says what is full and what still works", async () => {
    const { store, home } = await fullDisk();
    expect(await errorOf(store.commit(one, () => [big]))).toMatchObject({
      code: "disk-full",
      message: `The disk of ${home.options.path} is full; nothing was written.`,
      hint: "Free some space and try again. Sessions can still be stopped, killed and deleted.",
    });
  });

  it("[DAEMON-24] answers every caller when the reserve cannot be given back either", async () => {
    const { store, reserve } = await fullDisk();
    rmSync(reserve);
    // Cannot be removed as a file: what a disk that turned read-only does to the reserve.
    mkdirSync(reserve);
    const kill = errorOf(store.commit(one, () => [...Array<typeof big>(5).fill(big), intent("killed")]));
    const other = errorOf(store.commit(two, () => [big]));
    expect(await kill).toBeInstanceOf(Error);
    expect(await other).toBeInstanceOf(Error);
    rmdirSync(reserve);
  });

  it.each(["stopped", "killed", "deleted"] as const)(
    "[DAEMON-23] still records %s, by giving the reserve away",
    async (want) => {
      const { store, reserve } = await fullDisk();
      const kill = store.commit(one, () => [...Array<typeof big>(5).fill(big), intent(want)]);
      const other = errorOf(store.commit(two, () => [big]));
      expect((await kill).intent.want).toBe(want);
      expect(await other).toMatchObject({ code: "disk-full" });
      expect(existsSync(reserve)).toBe(false);
      expect(store.verify()).toEqual([]);
    },
  );

  it("[DAEMON-23] keeps the reserve for other batches", async () => {
    const { store, reserve } = await fullDisk();
    await errorOf(store.commit(one, () => [big, intent("archived")]));
    expect(existsSync(reserve)).toBe(true);
  });

  it("[DAEMON-23] keeps the room it gave away for the ends of sessions until there is space again", async () => {
    const disk = await fullDisk();
    const { store, reserve } = disk;
    await store.commit(one, () => [big, intent("killed")]);
    // There is room now, but not for this.
    expect(await errorOf(store.commit(two, () => [output("chatter")]))).toMatchObject({ code: "disk-full" });
    expect(await errorOf(store.commit(one, () => [intent("running")]))).toMatchObject({ code: "disk-full" });
    expect(await errorOf(store.probe())).toMatchObject({ code: "disk-full" });
    await store.commit(one, () => [{ type: "workspace.gone", reason: "killed" }]);
    expect((await store.commit(two, () => [intent("killed")])).intent.want).toBe("killed");
    disk.free = 100 * reserveBytes;
    disk.pages += 1000;
    await store.probe();
    expect(statSync(reserve).size).toBe(reserveBytes);
  });

  it("[DAEMON-23] allocates the reserve when it opens, again when it is missing or cut short", async () => {
    const home = makeHome();
    const reservePath = join(home.directory, "reserve");
    home.open({ reservePath }).close();
    const stat = statSync(reservePath);
    expect([stat.size, stat.mode & 0o777]).toEqual([reserveBytes, 0o600]);
    expect(stat.blocks * 512).toBeGreaterThanOrEqual(reserveBytes);
    const made = stat.mtimeMs;
    home.open({ reservePath }).close();
    expect(statSync(reservePath).mtimeMs).toBe(made);
    truncateSync(reservePath, 1000);
    home.open({ reservePath }).close();
    expect(statSync(reservePath).size).toBe(reserveBytes);
  });
});

async function fullDisk(): Promise<Disk> {
  const home = makeHome();
  const reserve = join(home.directory, "reserve");
  const disk = { home, reserve, pages: 1_000_000, free: 0 };
  const given = (): number => (existsSync(reserve) ? 0 : reserveBytes / pageBytes);
  const store = home.open({
    reservePath: reserve,
    disk: { maxPages: () => disk.pages + given(), freeBytes: () => disk.free },
  });
  await Promise.all([store.create(created("ma-1")), store.create(created("ma-2"))]);
  disk.pages = 1;
  // SQLite never goes below what is in use; fill what is left of the last pages.
  while ((await Promise.allSettled([store.commit(two, () => [output("x".repeat(1000))])]))[0]?.status === "fulfilled");
  return Object.assign(disk, { store });
}
