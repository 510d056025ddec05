import { expect, test } from "vitest";
import { run } from "./run.ts";

test("[BASE-9] a foreign program is heard out, and neither missing, endless nor hanging ones hold anything up", async () => {
  expect(await run(["printf", "%s", "a b; c"], { deadlineMs: 20_000 })).toEqual({ code: 0, stdout: "a b; c" });
  expect(await run(["sh", "-c", "exit 3"], { deadlineMs: 20_000 })).toEqual({ code: 3, stdout: "" });
  expect(await run(["holdfast-no-such-program"], { deadlineMs: 20_000 })).toBeNull();
  expect(await run(["sleep", "600"], { deadlineMs: 50 })).toBeNull();
  expect(await run(["yes"], { deadlineMs: 20_000 })).toBeNull();
});
