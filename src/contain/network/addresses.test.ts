import { expect, test } from "vitest";
import { isPublic } from "./session-proxy.ts";

const none = new Set<string>();

test("[NETWORK-3] private, loopback, link-local, metadata and translated addresses are not public", () => {
  const inner = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "172.16.0.1",

    "172.31.255.255",
    "192.0.0.8",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",

    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "2002:7f00:1::1",
    "not an address",
  ];
  for (const address of inner) expect(isPublic(address, none), address).toBe(false);
  for (const address of [
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.0.1",
    "172.32.0.1",
    "9.255.255.255",
    "2606:4700::1111",
  ]) {
    expect(isPublic(address, none), address).toBe(true);
  }
});

test("[NETWORK-3] the machine's own public address is not public: services of this machine listen on it", () => {
  expect(isPublic("1.1.1.1", new Set(["1.1.1.1"]))).toBe(false);
});
