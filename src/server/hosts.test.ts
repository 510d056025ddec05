import { hostname, networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { createHosts } from "./hosts.ts";

test("[API-21] bound to everything, this machine's own addresses and name are answered for, others not", () => {
  const hosts = createHosts("0.0.0.0", 4710);
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address));
  for (const address of own) {
    expect(hosts.allows(`${address.includes(":") ? `[${address}]` : address}:4710`)).toBe(true);
  }
  expect(hosts.allows(`${hostname()}:4710`)).toBe(true);
  expect(hosts.allows(`${hostname()}:4711`)).toBe(false);
  expect(hosts.allows(`${hostname()}.evil.example:4710`)).toBe(false);
  expect(hosts.allows("203.0.113.7:4710")).toBe(false);
  expect(hosts.url).toBe("http://127.0.0.1:4710");
});

test("[API-21] bound to one address, that one is answered for beside loopback", () => {
  const hosts = createHosts("192.168.1.5", 80);
  expect(hosts.allows("192.168.1.5")).toBe(true);
  expect(hosts.allows("192.168.1.5:80")).toBe(true);
  expect(hosts.allows("localhost:80")).toBe(true);
  expect(hosts.allows("192.168.1.6")).toBe(false);
  expect(hosts.allows(`${hostname()}:80`)).toBe(false);
  expect(createHosts("::1", 4710).url).toBe("http://[::1]:4710");
});
