import { describe, expect, test } from "vitest";
import { daemon } from "../commands.fixture.ts";

describe("[CLI-23] acp ps", () => {
  const worker = (session: string, more = {}) => ({
    pid: 12,
    session,
    agent: "claude",
    state: "idle",
    build: "1.0+k1",
    stale: false,
    detached: false,
    startedAt: "2026-01-01T22:00:00.000Z",
    ...more,
  });
  test("lists agents in natural order, with stale and detached ones marked", async () => {
    const workers = [
      worker("ma-10", { stale: true, state: "working", detached: true }),
      worker("ma-2", { pid: null, startedAt: null }),
    ];
    const { run } = await daemon({ "GET /api/acp": { answer: workers } });
    expect((await run(["acp", "ps"])).out.split("\n")).toEqual([
      "PID  SESSION  AGENT   STATE    BUILD           DETACHED  UPTIME",
      "-    ma-2     claude  idle     1.0+k1          no",
      "12   ma-10    claude  working  1.0+k1 (stale)  yes       2h",
    ]);
    expect(JSON.parse((await run(["acp", "ps", "--json"])).out)).toEqual(workers);
  });

  test("reports that none is running", async () => {
    const { run } = await daemon({ "GET /api/acp": { answer: [] } });
    expect((await run(["acp", "ps"])).out).toBe("No chat agent is running.");
  });
});
