import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { showSocket, socketFolder } from "./contain.ts";

function listen(path: string): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(path, () => resolve(server));
  });
}

test("[CONTAIN-1] of the sockets only the agents' is in the folder that they see, and the newest one", async () => {
  const root = mkdtempSync(join(tmpdir(), "hf-shown-"));
  const socket = join(root, "agents.sock");
  const shown = join(root, "contained", socketFolder);
  expect(showSocket(socket, join(root, "contained"))).toBe(false);
  for (let daemon = 1; daemon <= 2; daemon += 1) {
    const servers = await Promise.all([listen(socket), listen(join(root, "daemon.sock"))]);
    expect(showSocket(socket, join(root, "contained"))).toBe(true);
    expect(readdirSync(shown)).toEqual(["agents.sock"]);
    expect(statSync(join(shown, "agents.sock")).ino).toBe(statSync(socket).ino);
    await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  }
  rmSync(root, { recursive: true });
});
