import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inheritedVariables, readLineage, socketIn, tcpClient } from "./lineage.ts";
import { peerLookUp } from "./peer.ts";

test.runIf(process.platform === "linux")(
  "[AUTHORIZE-1] the kernel names the process that connected, without a warning",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "hf-peer-"));
    const warnings: string[] = [];
    const note = (warning: Error): unknown => warnings.push(warning.message);
    process.on("warning", note);
    const server = createServer().listen(join(directory, "s"));
    try {
      await once(server, "listening");
      const client = connect(join(directory, "s"));
      const [socket] = (await once(server, "connection")) as [Socket];
      const look = peerLookUp();
      expect(look.is === "ok" ? look.pidOf(socket) : look.why).toBe(process.pid);
      client.destroy();
      socket.destroy();
      // Of a socket that is closed nothing is known.
      await new Promise((resume) => setImmediate(resume));
      expect(look.is === "ok" ? look.pidOf(socket) : look.why).toBe(0);
      expect(warnings.filter((text) => text.includes("FFI"))).toEqual([]);
    } finally {
      process.off("warning", note);
      server.close();
      rmSync(directory, { recursive: true });
    }
  },
);

test.runIf(process.platform === "linux")(
  "[AUTHORIZE-1] a lineage goes from a process to its oldest ancestor, or to the one named",
  () => {
    const { line, cgroup } = readLineage(process.pid, 0)!;
    expect(line.slice(0, 2).map(({ pid }) => pid)).toEqual([process.pid, process.ppid]);
    expect(cgroup).toMatch(/^\d+:/);
    expect(readLineage(process.pid, process.ppid)!.line.map(({ pid }) => pid)).toEqual([process.pid]);
    expect(readLineage(2 ** 22 + 1, 0)).toBeNull();
    expect(inheritedVariables(process.pid, ["PATH", "NO_SUCH_VARIABLE"])).toEqual({ PATH: expect.any(String) });
    expect(inheritedVariables(process.pid, ["NO_SUCH_VARIABLE"])).toBeNull();
  },
);

test.runIf(process.platform === "linux")(
  "[AUTHORIZE-6] a loopback client that has disconnected is distinguished from a connected one",
  async () => {
    expect(tcpClient(1, 2)).toEqual({ is: "gone" });
  },
);

test("[AUTHORIZE-6] a client port that several addresses of this machine use identifies no process", () => {
  const line = (address: string, inode: string): string =>
    `   0: ${address}:C350 0100007F:1266 01 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1`;
  const browser = line("0100007F", "777");
  expect(socketIn([browser, ""], 50_000, 4710)).toMatchObject({ inode: "777", uid: 1000 });
  expect(socketIn([`${browser}\n${line("0200007F", "0")}`, ""], 50_000, 4710)).toMatchObject({
    inode: "777",
    uid: 1000,
  });
  expect(socketIn([`${browser}\n${line("0200007F", "888")}`, ""], 50_000, 4710)).toBeNull();
  expect(socketIn([browser, line("0000000000000000FFFF00000201A8C0", "888")], 50_000, 4710)).toBeNull();
});
