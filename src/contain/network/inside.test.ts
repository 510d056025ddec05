import { expect, test } from "vitest";
import { builtInAgents } from "../../agents/registry.ts";
import { parseNetwork } from "../../contract/containment.ts";
import { parseAllow } from "./allow-list.ts";
import { allowListInside, forwarded } from "./inside.ts";

test("[NETWORK-8] the model hosts of agents are exact names without a port: they never open a private address", () => {
  for (const { hosts = [] } of builtInAgents) {
    for (const host of hosts) expect(parseAllow(host), host).toEqual({ host, match: "exact", port: null });
  }
  const withHosts = builtInAgents.filter(({ hosts = [] }) => hosts.length > 0).map(({ id }) => id);
  expect(withHosts).toEqual(builtInAgents.filter(({ npm }) => npm !== undefined).map(({ id }) => id));
});

test("[NETWORK-10] loopback ports with a number are forwarded, once each, and no other entry", () => {
  const list = [
    "127.0.0.1:5432",
    "localhost:5432",
    "localhost:6379",
    "127.0.0.1",
    "*.example.com:99",
    "db.example:5432",
    "[::1]:7",
    "nonsense:",
  ];
  expect(forwarded(list)).toEqual(["localhost:5432", "localhost:6379"]);
});

test("[NETWORK-7] programs get the proxy's variables in every spelling, and their own loopback stays direct", () => {
  const { env, prefix } = allowListInside("/home/network/ma-1/door", ["127.0.0.1:5432"], { node: "/n", bridge: "/b" });
  const proxy = "http://127.0.0.1:3128";
  for (const name of ["http_proxy", "https_proxy", "all_proxy"]) {
    expect([env[name], env[name.toUpperCase()]]).toEqual([proxy, proxy]);
  }
  expect(env).toMatchObject({
    NO_PROXY: "localhost,127.0.0.1,::1",
    no_proxy: env["NO_PROXY"],
    NODE_USE_ENV_PROXY: "1",
  });
  expect(prefix.slice(-2)).toEqual(["3128", "127.0.0.1:5432"]);
});

test("[NETWORK-2, NETWORK-8] --network takes on, off, allow-list, or hosts in every form that the list knows", () => {
  expect([parseNetwork("on"), parseNetwork("off"), parseNetwork("allow-list")]).toEqual(["on", "off", { allow: [] }]);
  const hosts = ["api.example.com", "*.example.com:8443", "*", "127.0.0.1:5432", "[::1]:80"];
  expect(parseNetwork(hosts.join(", "))).toEqual({ allow: hosts });
  for (const host of hosts) expect(parseAllow(host), host).toHaveProperty("match");
  for (const text of ["https://example.com", "", "a b", "example.com/x"]) expect(parseNetwork(text), text).toBe(null);
});
