import { expect, test } from "vitest";
import type { DeviceJson } from "../../../contract/device.ts";
import { daemon } from "../commands.fixture.ts";

const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1, 12, minutes)).toISOString();
const now = Date.UTC(2026, 0, 1, 13);
const deviceOf = (id: string, name: string): DeviceJson => ({
  id,
  name,
  rights: "all",
  createdAt: at(0),
  lastSeen: at(58),
  lastAddress: "192.168.1.7",
  origin: "http://127.0.0.1:4710",
  isYou: false,
});
const [phone, desk] = [deviceOf("3f9a2c81b0de1234", "My \u001bphone"), deviceOf("3f00000000000000", "Desk")];

test("[DEVICE-10] device ls shows who is logged in, without control characters; --json gives all of it", async () => {
  const { run } = await daemon({ "GET /api/devices": { answer: [phone, desk] } });
  const { out } = await run(["device", "ls"], { now });
  expect(out.split("\n")).toHaveLength(3);
  expect(out).toMatch(/^ID +NAME +RIGHTS +LAST SEEN +ADDRESS +LOGGED IN\n3f9a2c81b0de1234 {2}My .?phone +all +2m ago/);
  expect(out).not.toContain("\u001b");
  expect(JSON.parse((await run(["device", "ls", "--json"])).out)).toEqual([phone, desk]);
  const none = await daemon({ "GET /api/devices": { answer: [] } });
  expect((await none.run(["device", "ls"])).out).toBe("No browser is logged in. Run: holdfast dashboard");
});

test("[DEVICE-10] a device is named by id, a unique prefix or its name, then renamed, limited or revoked", async () => {
  const { run, asked } = await daemon({
    "GET /api/devices": { answer: [phone, desk] },
    "POST /api/devices/3f00000000000000": { answer: { ...desk, name: "Tower", rights: "watch" } },
    "DELETE /api/devices/3f9a2c81b0de1234": { answer: phone },
    "POST /api/logout": { answer: { revoked: 2 } },
  });
  expect((await run(["device", "rename", "Desk", "Tower", "PC"])).out).toBe("Device 3f00000000000000 renamed: Tower");
  expect(asked.at(-1)?.body).toEqual({ name: "Tower PC" });
  expect((await run(["device", "rights", "3f0", "watch"])).out).toBe("Tower may only watch.");
  expect(asked.at(-1)?.body).toEqual({ rights: "watch" });
  expect((await run(["device", "rights", "3f0", "root"])).code).toBe(2);
  expect((await run(["device", "revoke", "3f9a"])).out).toMatch(/^Revoked 3f9a2c81b0de1234 \(My .?phone\)\.$/);
  const before = asked.length;
  const unclear = await run(["device", "revoke", "3f"]);
  expect([unclear.code, unclear.err]).toEqual([1, expect.stringContaining("3f matches 2 devices")]);
  expect((await run(["device", "revoke", "nobody"])).err).toContain("No device nobody is logged in");
  expect((await run(["device", "revoke"])).code).toBe(2);
  expect((await run(["device", "revoke", "Desk", "--all"])).code).toBe(2);
  expect(asked.slice(before).filter(({ line }) => !line.startsWith("GET"))).toEqual([]);
  expect((await run(["device", "revoke", "--all"])).out).toBe("Logged 2 devices out.");
  expect(asked.at(-1)?.body).toEqual({ all: true });
});

test("[DEVICE-12] pair prints a QR code and the link, at the public address where there is one", async () => {
  const link = { url: "http://127.0.0.1:4710/#login=abc.def", expiresAt: at(10) };
  const info = { url: "http://127.0.0.1:4710" };
  const { run, asked } = await daemon({
    "POST /api/login-link": { answer: link },
    "GET /api/info": { answer: { ...info, publicUrls: ["https://box.example"] } },
  });
  const { out, err } = await run(["pair", "--rights", "answer", "--name", "My phone"]);
  const lines = out.split("\n");
  expect(lines.at(-2)).toBe("https://box.example/#login=abc.def");
  expect(lines.at(-1)).toMatch(/^Works once, until .*\. The device may watch, prompt and answer\.$/);
  expect(lines.slice(0, -2).join("")).toMatch(/^[█▀▄ ]+$/);
  // Square: two modules to a line, and four of border.
  expect(lines.length - 2).toBe(Math.ceil(lines[0]!.length / 2));
  expect(err).toBe("");
  expect(asked[0]?.body).toEqual({ for: "pair", rights: "answer", name: "My phone" });
  expect((await run(["pair", "--no-qr"])).out.split("\n")).toHaveLength(2);
  expect(JSON.parse((await run(["pair", "--json"])).out)).toEqual({
    url: "https://box.example/#login=abc.def",
    expiresAt: at(10),
    rights: "all",
  });
  const local = await daemon({ "POST /api/login-link": { answer: link }, "GET /api/info": { answer: info } });
  const alone = await local.run(["pair"]);
  expect(alone.out).toContain(link.url);
  expect(alone.err).toContain("only works on this machine");
});

test("[DEVICE-13] token rotate names the file, never the token", async () => {
  const { run } = await daemon({ "POST /api/token/rotate": { answer: { file: "/home/me/token" } } });
  expect((await run(["token", "rotate"])).out).toBe("Main token replaced. Scripts read it from /home/me/token");
});

test("[DEVICE-14] a daemon that makes no file gets its link printed, and nothing is opened with it", async () => {
  const { run, asked } = await daemon({
    "POST /api/login-link": { answer: { url: "http://x/#login=a.b", expiresAt: null } },
  });
  const ran = await run(["dashboard"], { env: { DISPLAY: ":9", PATH: "/nowhere" } });
  expect(asked[0]?.body).toEqual({ file: true });
  expect([ran.out, ran.err]).toEqual(["http://x/#login=a.b", "Cannot open a browser here; open the link yourself."]);
});
