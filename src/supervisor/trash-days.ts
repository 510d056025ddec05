/** Counts the days that entries lie in the trash, in the store, so that no clock alone can empty it. */
import { daysInTrash, isExpired, keptUntil, readSeenDays, seeTrash } from "../model/trash-days.ts";
import type { TrashEntry } from "../ports/worktree.ts";
import type { Services } from "./services.ts";

const setting = "trash.days";

const readingMs = 1_000;

type Counted = Pick<Services, "store" | "clock" | "workspaces">;

/** Looks at the clock once more; the entries that have been in the trash for their time. */
export async function expiredTrash(services: Counted, entries: readonly TrashEntry[]): Promise<TrashEntry[]> {
  const { store, clock, workspaces } = services;
  const reading = { boot: clock.bootId(), up: clock.uptime(), wall: clock.now() };
  // The machine slept between the two clocks: together they would look like a jump. The next look is a minute away.
  if (clock.uptime() - reading.up > readingMs) return [];
  const before = readSeenDays(store.getSetting(setting));
  const seen = seeTrash(
    before,
    reading,
    entries.map(({ id }) => id),
  );
  if (seen !== before) await store.putSetting(setting, JSON.stringify(seen));
  return entries.filter(({ id }) => isExpired(seen, reading, id, workspaces.trashDays));
}

/** How many days each entry has been in the trash. */
export function trashDaysOf({ store }: Pick<Counted, "store">): (entry: TrashEntry) => number {
  const seen = readSeenDays(store.getSetting(setting));
  return ({ id }) => daysInTrash(seen, id);
}

/** From when on each entry may be removed, as a date. */
export function trashUntil({ store, clock, workspaces }: Counted): (entry: TrashEntry) => string {
  const seen = readSeenDays(store.getSetting(setting));
  return ({ id }) => keptUntil(seen, clock.now(), id, workspaces.trashDays);
}
