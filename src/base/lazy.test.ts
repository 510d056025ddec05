import { expect, test } from "vitest";
import { lazy } from "./lazy.ts";

test("[TERMINAL-8] a loaded value is kept, a failure is not", async () => {
  let calls = 0;
  const load = lazy(async () => {
    calls += 1;
    if (calls === 1) throw new Error("no descriptor");
    return calls;
  });
  await expect(Promise.all([load(), load()])).rejects.toThrow("no descriptor");
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
