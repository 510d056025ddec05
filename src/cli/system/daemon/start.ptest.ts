/** The built program: what only the real daemon can refuse. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Home } from "../../../../test/harness/home.ts";

test("[CLI-48] start --host 0.0.0.0 with a passphrase file is enough, and so is HOLDFAST_PASSPHRASE", async () => {
  await using home = new Home();
  const file = join(home.directory, "secret");
  writeFileSync(file, "correct horse battery\n");
  await home.ok(["start", "--host", "0.0.0.0", "--port", "0", "--passphrase-file", file]);
  expect(home.daemon().options).toMatchObject({ host: "0.0.0.0", auth: "passphrase" });
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0"], { env: { HOLDFAST_PASSPHRASE: "another phrase entirely" } });
  expect(home.daemon().options).toMatchObject({ host: "127.0.0.1", auth: "passphrase" });
});

test("[CLI-54] a port that is taken fails the start, and the next command starts as before", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  await home.ok(["stop"]);
  const before = readFileSync(home.paths.launchFile, "utf8");
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    const { port } = server.address() as AddressInfo;
    const ran = await home.cli(["start", "--port", String(port)]);
    expect([ran.code, ran.stderr.includes(String(port))]).toEqual([1, true]);
    expect(readFileSync(home.paths.launchFile, "utf8")).toBe(before);
    expect(existsSync(`${home.paths.launchFile}.before`)).toBe(false);
    await home.ok(["session", "ls"]);
  } finally {
    server.close();
  }
});

test("[API-13] a read-only daemon refuses to halt sessions, unless it was started for that", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0", "--read-only"]);
  const ran = await home.cli(["stop", "--halt-sessions", "--yes"]);
  expect([ran.code, ran.stderr.split("\n")[0]]).toEqual([1, "This daemon is read-only; nothing can be changed."]);
  await home.ok(["stop"]);
  expect((await home.cli(["stop", "--halt-sessions", "--yes"])).code).toBe(0);
  expect((await home.json<{ state: string }>(["info"])).state).toBe("stopped");
  // So that the end of the test can halt what it likes.
  await home.ok(["start", "--port", "0"]);
});
