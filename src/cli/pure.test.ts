import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProjectJson } from "../contract/project.ts";
import { judgeSpace } from "./doctor/home.ts";
import { judgeReserve, judgeVersion } from "./doctor/tools.ts";
import { completionScript } from "./commands/completion/completion.ts";
import { launchdPlist, systemdUnit } from "./system/service/service.ts";
import { readResponse, SocketTransport } from "./system/daemon/socket-transport.ts";
import { spawnTarget } from "./commands/spawn/spawn.ts";
import { splitCommand } from "./commands/session/attach.ts";
import { managerVariables, parseReport } from "./system/daemon/start.ts";
import { hasProcesses } from "./commands/daemon/stop.ts";

describe("[CLI-12] the meaning of spawn's arguments", () => {
  const projects = ["my-app", "other"].map((id) => ({ id }) as ProjectJson);
  const here = projects[0]!;
  const target = (args: string[], at: ProjectJson | null, issueOption?: string): unknown =>
    spawnTarget({ args, issueOption }, projects, at);

  test("inside a project", () => {
    expect(target([], here)).toEqual({ project: "my-app", issue: undefined });
    expect(target(["42"], here)).toEqual({ project: "my-app", issue: "42" });
    expect(target(["other"], here)).toEqual({ project: "other", issue: undefined });
    expect(target(["other", "42"], here)).toEqual({ project: "other", issue: "42" });
    expect(target(["other"], here, "42")).toEqual({ project: "other", issue: "42" });
    expect(() => target(["41"], here, "42")).toThrow("Two issues given: 41 and --issue 42.");
    expect(() => target(["nope", "42"], here)).toThrow("Unknown project: nope");
  });

  test("outside of any", () => {
    expect(target([], null)).toBe("none-here");
    expect(target(["42"], null)).toBe("none-here");
    expect(target(["INT-42"], null)).toBe("none-here");
    expect(target(["other"], null)).toEqual({ project: "other", issue: undefined });
    expect(() => target(["nope"], null)).toThrow("Unknown project: nope");
  });
});

test.each([
  ["tmux -L hf attach -t =x", ["tmux", "-L", "hf", "attach", "-t", "=x"]],
  ["a 'b c' \"d \\\"e\" f\\ g ''", ["a", "b c", 'd "e', "f g", ""]],
  ["a 'it'\\''s' $(b)", ["a", "it's", "$(b)"]],
])("a pasteable command is split without a shell: %s", (text, words) => expect(splitCommand(text)).toEqual(words));

describe("[CLI-56] service definitions", () => {
  const facts = {
    command: ['/opt/a "b"/50%/$x/bin/holdfast', "start", "--foreground"],
    home: "/h o/m&e",
    path: "/usr/bin:/bin",
  };

  test("the systemd unit ends the daemon alone, and takes every path literally", () => {
    const unit = systemdUnit(facts);
    expect(unit).toContain('ExecStart="/opt/a \\"b\\"/50%%/$$x/bin/holdfast" "start" "--foreground"\n');
    expect(unit).toContain("\nType=exec\n");
    expect(unit).toContain("\nKillMode=process\n");
    expect(unit).toContain("\nRestart=on-failure\n");
    expect(unit).toContain('Environment="HOLDFAST_HOME=/h o/m&e"\n');
    expect(systemdUnit({ ...facts, home: null })).not.toContain("HOLDFAST_HOME");
  });

  test("the launchd plist leaves the process group alone and is escaped", () => {
    const plist = launchdPlist(facts, "holdfast");
    expect(plist).toContain("<key>AbandonProcessGroup</key>\n  <true/>");
    expect(plist).toContain("<string>/h o/m&amp;e</string>");
  });
});

describe("[CLI-52] an answer over the socket", () => {
  const read = (text: string): unknown => readResponse(Buffer.from(text));
  test("is whole or an error", () => {
    expect(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")).toEqual({ status: 200, text: "{}" });
    expect(read("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nä")).toEqual({ status: 404, text: "ä" });
    expect(read("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}")).toBe("the response was cut off");
    expect(read("HTTP/1.1 200 OK\r\n")).toBe("the response was cut off");
    expect(read("")).toBe("the connection was closed without a response");
    expect(read("SSH-2.0-x\r\n\r\n")).toBe("the response is not HTTP");
  });

  test.each([
    ["in one piece", ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[12]"]],
    ["in several", ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[", "12]"]],
  ])("that says its length is not waited for beyond it, %s", async (_, pieces) => {
    const directory = mkdtempSync("/tmp/hf-socket-");
    const path = join(directory, "s");
    const held: Socket[] = [];
    // Never ends the connection.
    const server = createServer((socket) => {
      held.push(socket);
      const next = (): void => {
        const piece = pieces.shift();
        if (piece !== undefined) socket.write(piece, () => setImmediate(next));
      };
      next();
    });
    await new Promise<void>((listening) => server.listen(path, listening));
    try {
      const { response, abandon } = new SocketTransport(path).exchange({
        method: "GET",
        path: "/",
        headers: {},
        body: null,
      });
      expect(await response).toEqual({ status: 200, text: "[12]" });
      abandon(new Error("read"));
    } finally {
      for (const socket of held) socket.destroy();
      await new Promise((closed) => server.close(closed));
      rmSync(directory, { recursive: true });
    }
  });
});

test("[CLI-52] a report is one line of JSON, or none", () => {
  expect(parseReport('{"report":"ready","pid":1,"url":"u","notes":[]}\n')).toEqual({
    report: "ready",
    pid: 1,
    url: "u",
    notes: [],
  });
  for (const text of ["", "{", '{"report":"other"}', "ready\n"]) expect(parseReport(text)).toBeNull();
});

test("[CLI-53] only the process that systemd itself started is managed by it", () => {
  expect(managerVariables({ INVOCATION_ID: "i", SYSTEMD_EXEC_PID: "7" }, 7)).toEqual({ INVOCATION_ID: "i" });
  expect(managerVariables({ INVOCATION_ID: "i", SYSTEMD_EXEC_PID: "7" }, 8)).toEqual({});
  expect(managerVariables({ INVOCATION_ID: "i" }, 8)).toEqual({ INVOCATION_ID: "i" });
  expect(managerVariables({}, 8)).toEqual({});
});

test("[CLI-50] every session with a live process counts as running, and so does an unknown one", () => {
  const processes = [{ pid: 1, startedAt: null, what: "agent" }];
  expect(hasProcesses({ status: "killed", processes })).toBe(true);
  expect(hasProcesses({ status: "unknown", processes: [] })).toBe(true);
  expect(hasProcesses({ status: "starting", processes: [] })).toBe(true);
  for (const status of ["stopped", "exited", "failed", "archived"] as const)
    expect(hasProcesses({ status, processes: [] })).toBe(false);
});

test("[CLI-57] versions and disk space are judged", () => {
  expect(judgeVersion("tmux", "tmux 3.3a", [3, 2], "f").level).toBe("ok");
  expect(judgeVersion("tmux", "tmux 2.9", [3, 2], "f")).toMatchObject({ level: "fail", fix: "f" });
  expect(judgeVersion("tmux", "tmux next-4.0", [3, 2], "f").level).toBe("ok");
  expect(judgeVersion("tmux", "what", [3, 2], "f").level).toBe("warn");
  const levels = [2_000, 500, 50].map((megabytes) => judgeSpace(megabytes * 1024 * 1024, "/h").level);
  expect(levels).toEqual(["ok", "warn", "fail"]);
});

test("[CLI-62] a system that cannot reserve disk space for chat agents gets a warning", () => {
  expect(judgeReserve("/usr/bin/fallocate").level).toBe("ok");
  expect(judgeReserve(null)).toMatchObject({ level: "warn", message: expect.stringContaining("full disk") as string });
});

test("[CLI-14] completion scripts never start a daemon: they only call complete", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) expect(completionScript(shell)).toContain(" complete -- ");
});
