import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";

test("[SESSION-62, SESSION-63] a pinned session comes first in its project, also after a restart, until it is unpinned", async () => {
  await using home = await ChatHome.open();
  const first = await home.chat("say: one");
  const second = await home.chat("say: two");
  for (const id of [first, second]) await home.ended(id);
  const listed = async (): Promise<string[]> =>
    (await home.json<{ id: string }[]>(["session", "ls"])).map(({ id }) => id);
  const before = await home.show(second);
  expect(await listed()).toEqual([first, second]);

  expect(await home.ok(["session", "pin", second])).toBe(`Session ${second} pinned.\n`);
  expect(await listed()).toEqual([second, first]);
  expect(await home.ok(["session", "ls"])).toMatch(new RegExp(`${second} .*pinned\n.*${first} `));
  const pinned = await home.show(second);
  expect(pinned).toMatchObject({
    pinned: true,
    status: before.status,
    processes: before.processes,
    seq: before.seq + 1,
  });
  await home.ok(["session", "pin", second]);
  expect((await home.show(second)).seq).toBe(pinned.seq);

  await home.crash();
  await home.ok(["session", "stop", second]);
  expect(await listed()).toEqual([second, first]);
  await home.ok(["session", "unpin", second, first]);
  expect(await listed()).toEqual([first, second]);
});
