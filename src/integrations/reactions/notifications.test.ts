import { expect, test } from "vitest";
import type { Channel, Notification } from "../../ports/notify.ts";
import { asSessionId } from "../../contract/ids.ts";
import { Notifications } from "./notifications.ts";
import { trackingWorld, type TrackingWorld } from "../trackers/tracking.fixture.ts";

const id = asSessionId("app-1");

async function worldWith(
  channel: Channel,
): Promise<TrackingWorld & { make: () => Notifications; note: (name: string) => Promise<void> }> {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  const { store, settings, now } = world;
  const say = (): void => undefined;
  return {
    ...world,
    make: () =>
      new Notifications(
        {
          store,
          settings,
          clock: { now: () => now.value, bootId: () => "b", uptime: () => now.value },
          log: { debug: say, info: say, warn: say, error: say },
        },
        {
          hasSubscribers: () => Promise.resolve(false),
          send: () => Promise.reject(new Error("no browser subscribed")),
        },
        () => new Map([["webhook", channel]]),
      ),
    note: async (name) => {
      await store.commit(id, () => [
        { type: "notification", id: name, title: "t", text: "x", why: "w", channels: ["webhook"] },
      ]);
    },
  };
}

test("[NOTIFY-3] a notification that an earlier daemon did not send is sent once, with its id; an old one is not", async () => {
  const told: Notification[] = [];
  const world = await worldWith((one) => {
    told.push(one);
    return Promise.resolve();
  });
  await world.note("n1");
  await Promise.all([world.make().sendPending(id), world.make().sendPending(asSessionId("app-9"))]);
  await world.make().sendPending(id);
  expect(told).toMatchObject([{ id: "n1", session: "app-1", project: "app", title: "t" }]);
  expect(world.store.session(id)?.untold).toEqual([]);
  await world.note("n2");
  world.now.value += 2 * 3_600_000;
  await world.make().sendPending(id);
  expect(told).toHaveLength(1);
  expect(world.store.session(id)?.untold).toEqual([]);
});

test("[NOTIFY-2] a channel that fails is tried once more, and its failure is on record", async () => {
  let tries = 0;
  const world = await worldWith(() => Promise.reject(new Error(`no (${++tries})`)));
  await world.note("n1");
  await world.make().sendPending(id);
  const last = world.store.events(id, 0, 100).at(-1);
  expect(last).toMatchObject({ type: "notification.sent", id: "n1", failed: [{ channel: "webhook", why: "no (2)" }] });
});

test("[NOTIFY-4] not more than twenty an hour leave the machine", async () => {
  let told = 0;
  const world = await worldWith(() => {
    told++;
    return Promise.resolve();
  });
  const notifications = world.make();
  for (let index = 0; index < 25; index++) {
    await world.note(`n${index}`);
    await notifications.sendPending(id);
  }
  expect(told).toBe(20);
  world.now.value += 3_600_001;
  await world.note("later");
  await notifications.sendPending(id);
  expect(told).toBe(21);
});
