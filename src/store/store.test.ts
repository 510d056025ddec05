import { describe, expect, it } from "vitest";
import { asProjectId, asPromptId, asSessionId } from "../contract/ids.ts";
import { admitted, created, errorOf, intent, makeHome, output, renamed } from "./store.fixture.ts";

const one = asSessionId("ma-1");
const two = asSessionId("ma-2");

describe.each(["a file", ":memory:"] as const)("the store on %s", (where) => {
  it("[STORE-1] numbers a session's events from 1 without gaps and folds them into its state", async () => {
    const store = makeHome(where).open();
    await store.create(created("ma-1"), [renamed("first")]);
    const state = await store.commit(one, () => [output("a"), renamed("second")]);
    expect(state).toMatchObject({ seq: 4, title: "second" });
    expect(store.session(one)).toBe(state);
    expect(store.events(one, 0, 10).map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      "1 session.created",
      "2 session.renamed",
      "3 workspace.output",
      "4 session.renamed",
    ]);
    expect(store.events(one, 2, 1)).toEqual([{ seq: 3, at: expect.any(Number), type: "workspace.output", text: "a" }]);
  });

  it("[STORE-2] commits a tick's changes together, each seeing those before it, and tells followers once", async () => {
    const store = makeHome(where).open();
    let commits = 0;
    store.onCommit(() => commits++);
    const seen: string[] = [];
    const note = (title: string) =>
      store.commit(one, (state) => {
        seen.push(state.title);
        return [renamed(title)];
      });
    await Promise.all([store.create(created("ma-1")), note("a"), note("b"), store.create(created("ma-2"))]);
    expect(seen).toEqual(["ma-1", "a"]);
    expect(commits).toBe(1);
    expect(new Set(store.log(0, 10).map(({ at }) => at)).size).toBe(1);
    const stop = store.onCommit(() => commits++);
    stop();
    await note("c");
    expect(commits).toBe(2);
  });

  it("[STORE-3] lets a refused change fail alone, with nothing of it written", async () => {
    const store = makeHome(where).open();
    await store.create(created("ma-1"));
    const refused = errorOf(
      store.commit(one, () => {
        throw new Error("not now");
      }),
    );
    // The second event cannot follow: the first must not stay either.
    const half = errorOf(store.commit(one, () => [output("half"), created("ma-1")]));
    const good = store.commit(one, () => [output("good")]);
    expect((await refused).message).toBe("not now");
    expect((await half).message).toContain("created twice");
    expect((await good).seq).toBe(2);
    expect(store.events(one, 1, 10)).toMatchObject([{ seq: 2, text: "good" }]);
    expect(await errorOf(store.commit(two, () => []))).toMatchObject({ code: "not-found" });
  });

  it("[STORE-5] shows only what is committed", async () => {
    const store = makeHome(where).open();
    const creating = store.create(created("ma-1"));
    expect([store.sessions(), store.session(one), store.wasUsed("ma-1"), store.cursor()]).toEqual([[], null, false, 0]);
    await creating;
    const changing = store.commit(one, () => {
      expect(store.session(one)?.seq).toBe(1);
      return [output("a")];
    });
    expect(store.log(0, 10)).toHaveLength(1);
    await changing;
    expect([store.session(one)?.seq, store.cursor()]).toEqual([2, 2]);
  });

  it("[STORE-6] gives no session id twice, also in one tick and after a delete", async () => {
    const store = makeHome(where).open();
    const both = await Promise.allSettled([store.create(created("ma-1")), store.create(created("ma-1"))]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await store.commit(one, () => [intent("deleted")]);
    await store.purgeDeleted(one);
    expect(store.wasUsed("ma-1")).toBe(true);
    expect(await errorOf(store.create(created("ma-1")))).toMatchObject({
      code: "conflict",
      message: "Session id ma-1 was already used.",
    });
  });

  it("[STORE-7] gives no number twice and steps over ids that are taken", async () => {
    const store = makeHome(where).open();
    await store.create(created("ma-2"));
    expect(await Promise.all([store.nextNumber("ma"), store.nextNumber("ma"), store.nextNumber("zz")])).toEqual([
      1, 3, 1,
    ]);
    expect(await store.nextNumber("ma")).toBe(4);
  });

  it("[STORE-8] writes nothing for a prompt that is sent again, and refuses its id with other text", async () => {
    const store = makeHome(where).open();
    await store.create(created("ma-1"));
    const send = (text: string) => store.commit(one, () => [intent("running"), admitted("p", text)]);
    const [first, again] = await Promise.all([send("hello"), send("hello")]);
    expect([first.seq, again.seq]).toEqual([3, 3]);
    // The person stops it; a late retry must not wake it.
    await store.commit(one, () => [intent("stopped")]);
    expect(await send("hello")).toMatchObject({ seq: 4, intent: { want: "stopped" } });
    expect(await errorOf(send("other"))).toMatchObject({
      code: "conflict",
      message: "Prompt id p was already used with a different text.",
    });
    expect(store.events(one, 4, 10)).toEqual([]);
    expect(store.prompt(one, asPromptId("p"))).toEqual({
      session: one,
      promptId: "p",
      text: "hello",
      attachments: [],
      seq: expect.any(Number),
    });
    expect(store.prompt(one, asPromptId("q"))).toBeNull();
    expect(store.prompt(two, asPromptId("p"))).toBeNull();
    await store.create(created("ma-2"));
    expect((await store.commit(two, () => [admitted("p", "other")])).seq).toBe(2);
  });

  it("[STORE-9] keeps a deleted session out of the list, to be cleared away, and lets nothing bring it back", async () => {
    const store = makeHome(where).open();
    await Promise.all([store.create(created("ma-1")), store.create(created("ma-2"))]);
    await store.commit(one, () => [intent("deleted")]);
    expect(store.sessions().map(({ id }) => id)).toEqual([two]);
    expect(store.deleting().map(({ id }) => id)).toEqual([one]);
    // Its end is still recorded.
    await store.commit(one, () => [{ type: "workspace.gone", reason: "deleted" }]);
    expect(await errorOf(store.commit(one, () => [intent("running")]))).toMatchObject({ code: "conflict" });
    expect(store.session(one)).toMatchObject({ seq: 3, intent: { want: "deleted" } });
  });

  it("[STORE-10] purges a deleted session's events and prompts, and only a deleted one's", async () => {
    const store = makeHome(where).open();
    await Promise.all([store.create(created("ma-1")), store.create(created("ma-2"))]);
    // More than one commit's worth.
    await store.commit(one, () => [admitted("p", "x"), ...Array<ReturnType<typeof output>>(6000).fill(output("a"))]);
    expect(await errorOf(store.purgeDeleted(one))).toMatchObject({ code: "conflict" });
    await store.commit(one, () => [intent("deleted")]);
    const cursor = store.cursor();
    await Promise.all([store.purgeDeleted(one), store.purgeDeleted(one)]);
    await store.purgeDeleted(one);
    expect([store.deleting(), store.session(one), store.events(one, 0, 10)]).toEqual([[], null, []]);
    expect(store.prompt(one, asPromptId("p"))).toBeNull();
    expect(store.log(0, 10).map(({ session }) => session)).toEqual([two]);
    expect([store.cursor(), store.verify()]).toEqual([cursor, []]);
    expect(await errorOf(store.commit(one, () => [output("late")]))).toMatchObject({ code: "not-found" });
    expect(await errorOf(store.purgeDeleted(asSessionId("ma-9")))).toMatchObject({ code: "not-found" });
  });

  it("[STORE-18] reads on behind a cursor, of all sessions or of one", async () => {
    const store = makeHome(where).open();
    await Promise.all([store.create(created("ma-1")), store.create(created("ma-2"))]);
    for (let i = 0; i < 20; i++) await store.commit(i % 3 === 0 ? one : two, () => [output(String(i))]);
    const all = store.log(0, 100);
    expect(all.map(({ cursor }) => cursor)).toEqual(Array.from({ length: 22 }, (_, i) => i + 1));
    expect(store.cursor()).toBe(22);
    for (let after = 0; after <= 23; after++) {
      expect(store.log(after, 4)).toEqual(all.filter(({ cursor }) => cursor > after).slice(0, 4));
      const own = all.filter(({ cursor, session }) => cursor > after && session === one);
      expect(store.log(after, 3, one)).toEqual(own.slice(0, 3));
    }
    expect(store.log(0, 10, asSessionId("ma-9"))).toEqual([]);
  });

  it("[STORE-19] keeps projects and settings", async () => {
    const store = makeHome(where).open();
    const project = { id: asProjectId("app"), path: "/code/app", prefix: "ma", configFile: null, addedAt: 5 };
    const moved = { ...project, path: "/code/elsewhere", configFile: "/code/holdfast.yaml" };
    await store.putProject(project);
    await store.putProject({ ...project, id: asProjectId("lib") });
    await store.putProject(moved);
    expect(store.projects()).toEqual([moved, { ...project, id: "lib" }]);
    await store.removeProject(asProjectId("app"));
    expect(store.projects().map(({ id }) => id)).toEqual(["lib"]);
    await store.putSetting("lockout", "3");
    expect(store.getSetting("lockout")).toBe("3");
    await store.putSetting("lockout", null);
    expect(store.getSetting("lockout")).toBeNull();
  });

  it("[STORE-17] commits what waits when it is closed, and refuses what comes later", async () => {
    const store = makeHome(where).open();
    const waiting = store.create(created("ma-1"));
    store.close();
    store.close();
    expect((await waiting).seq).toBe(1);
    expect(await errorOf(store.commit(one, () => []))).toMatchObject({ code: "storage" });
    expect(await errorOf(() => store.events(one, 0, 1))).toMatchObject({ code: "storage" });
  });

  it("[STORE-25] answers a probe with a query and a write of its own", async () => {
    const store = makeHome(where).open();
    await store.probe();
    expect(Number(store.getSetting("store.probed-at"))).toBeGreaterThan(0);
    store.close();
    expect(await errorOf(store.probe())).toMatchObject({ code: "storage" });
  });
});

it("[STORE-2] goes on when a follower fails", async () => {
  const errors: string[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
  const store = makeHome(":memory:").open({ log });
  let told = 0;
  store.onCommit(() => {
    throw new Error("broken follower");
  });
  store.onCommit(() => told++);
  await store.create(created("ma-1"));
  expect([told, errors.length]).toEqual([1, 1]);
});

it("[STORE-5] has everything after it is opened again", async () => {
  const home = makeHome();
  const before = home.open();
  await Promise.all([before.create(created("ma-1")), before.create(created("ma-2")), before.nextNumber("ma")]);
  await before.commit(one, () => [admitted("p", "text"), intent("killed")]);
  await before.commit(two, () => [intent("deleted")]);
  const [sessions, deleting, log] = [before.sessions(), before.deleting(), before.log(0, 100)];
  before.close();
  const after = home.open();
  expect([after.sessions(), after.deleting(), after.log(0, 100)]).toEqual([sessions, deleting, log]);
  expect(await errorOf(after.commit(one, () => [admitted("p", "other")]))).toMatchObject({ code: "conflict" });
  expect(await after.nextNumber("ma")).toBe(4);
  await after.purgeDeleted(two);
  after.close();
  const third = home.open();
  expect([third.wasUsed("ma-2"), third.deleting(), third.cursor(), third.verify()]).toEqual([true, [], 5, []]);
});

it("[SESSION-36] a verb that was judged against another state than the one it is committed over is not written", async () => {
  const store = makeHome(":memory:").open();
  const one = asSessionId("ma-1");
  const { seq } = await store.create(created("ma-1"));
  const stale = { seq, events: [renamed("stale")] };
  await Promise.all([
    store.commit(one, () => [output("newer")]),
    expect(store.applyVerb(one, () => stale)).rejects.toThrow("judged against another state"),
  ]);
  const state = await store.applyVerb(one, (now) => ({ ...stale, seq: now.seq }));
  expect(state).toMatchObject({ title: "stale", seq: 3 });
  expect(await store.applyVerb(one, () => null)).toEqual(state);
});
