import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { daemon } from "../commands.fixture.ts";

describe("stop --halt-sessions", () => {
  test("[CLI-50] lists running sessions; without a terminal and --yes nothing is stopped", async () => {
    const busy = sessionOf({ id: "ma-1", processes: [{ pid: 7, startedAt: null, what: "agent" }] });
    const { run, asked } = await daemon({
      "GET /api/sessions": { answer: [busy, sessionOf({ id: "ma-2", status: "stopped" })] },
    });
    const ran = await run(["stop", "--halt-sessions"]);
    expect(ran).toEqual({
      code: 1,
      out: "",
      err: "1 session would be stopped:\n  ma-1  [working]  Some work\nNothing was stopped.\nAdd --yes to stop them.",
    });
    expect(asked.map(({ line }) => line)).not.toContain("POST /api/daemon/stop");
  });

  test("[CLI-50] sessions that do not stop are named, and keep the daemon running", async () => {
    const { run, asked } = await daemon({
      "GET /api/sessions": { answer: [] },
      "GET /api/info": { answer: {} },
      "POST /api/daemon/stop": { answer: { kept: 0, halted: [], remaining: ["ma-1"] } },
    });
    const ran = await run(["stop", "--halt-sessions", "--yes"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "Still running: ma-1."]);
    expect(asked.at(-1)).toMatchObject({ line: "POST /api/daemon/stop", body: { haltSessions: true } });
  });
});

test("[CLI-51] restart does not touch a managed daemon and prints how to restart it", async () => {
  const stand = await daemon({});
  const { ownDaemonFile } = await import("../../test-support/stand-in.ts");
  // A home of its own has a service of its own, by the name that `service install` gives it.
  for (const [managedBy, words, hint] of [
    ["foreground", "runs in the foreground", /^Stop it in the terminal that runs it/],
    ["systemd", "is managed by systemd", / holdfast-[0-9a-f]{12}$/],
    ["launchd", "is managed by launchd", /\/holdfast-[0-9a-f]{12}$/],
  ] as const) {
    writeFileSync(
      join(stand.home, "daemon.json"),
      JSON.stringify({ ...ownDaemonFile(join(stand.home, "s")), managedBy }),
    );
    const ran = await stand.run(["restart"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, `The daemon (pid ${process.pid}) ${words}; not restarted.`]);
    expect(ran.err.split("\n")).toEqual([expect.any(String), expect.stringMatching(hint)]);
  }
  expect(stand.asked).toEqual([]);
});

test("[CLI-46] [REMOTE-2] start leaves a running daemon unchanged and names the options without effect", async () => {
  const { run } = await daemon({ "GET /api/info": { answer: {} } });
  const out = `Holdfast is already running at http://127.0.0.1:4710 (pid ${process.pid}).`;
  expect(await run(["start", "--port", "0"])).toEqual({ code: 0, err: "", out });
  expect(await run(["start", "--port", "4711", "--read-only", "--log-level", "debug", "--no-restore"])).toEqual({
    code: 0,
    err: "It keeps its options; --port, --read-only, --log-level, --no-restore had no effect. To change them, run holdfast stop, then start it again.",
    out,
  });
});
