import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { daemon } from "./commands.fixture.ts";

describe("without a daemon", () => {
  test("[CLI-45] --no-start refuses, exits 1 and prints how to start", async () => {
    const { run } = await daemon(null);
    expect(await run(["session", "ls", "--no-start"])).toEqual({
      code: 1,
      out: "",
      err: "Holdfast is not running.\nStart it with `holdfast start`, or omit --no-start.",
    });
  });

  test("[CLI-46] info and stop report it and exit 0", async () => {
    const { run, home } = await daemon(null);
    expect(await run(["stop"])).toEqual({ code: 0, out: "Holdfast is not running.", err: "" });
    expect(await run(["stop", "--halt-sessions"])).toEqual({ code: 0, out: "Holdfast is not running.", err: "" });
    const info = await run(["info", "--json"]);
    expect(JSON.parse(info.out)).toEqual({
      state: "stopped",
      pid: null,
      version: "0.0.0",
      build: "source",
      url: null,
      socket: null,
      home,
      startedAt: null,
      managedBy: null,
      installed: { version: "0.0.0", build: "source" },
    });
  });

  test("[CLI-46] a daemon file of a process that is gone is not believed", async () => {
    const { run, home } = await daemon(null);
    const stale = { pid: process.pid, startTime: "1", bootId: "other", socket: join(home, "s"), url: "http://x" };
    writeFileSync(join(home, "daemon.json"), JSON.stringify(stale));
    expect(JSON.parse((await run(["info", "--json"])).out)).toMatchObject({ state: "stopped", pid: null });
    writeFileSync(join(home, "daemon.json"), '{"pid": 1');
    expect(JSON.parse((await run(["info", "--json"])).out)).toMatchObject({ state: "stopped" });
  });

  test("logs reports a missing log, and prints an existing one", async () => {
    const { run, home } = await daemon(null);
    expect((await run(["logs"])).code).toBe(1);
    mkdirSync(join(home, "logs"));
    const lines = Array.from({ length: 5 }, (_, at) =>
      JSON.stringify({ at: "2026-01-01T00:00:00.000Z", level: "info", message: `m${at}` }),
    );
    writeFileSync(join(home, "logs", "daemon.log"), `${lines.join("\n")}\n{"half`);
    expect((await run(["logs", "-n", "2", "--json"])).out).toBe(lines.slice(-2).join("\n"));
    expect((await run(["logs", "-n", "0"])).out).toBe("");
    expect((await run(["logs", "-n", "x"])).code).toBe(2);
  });
});
