import { expect, test } from "vitest";
import { canonicalHost, judge, parseAllow, readAllow } from "./allow-list.ts";

const verdict = (list: string[], host: string, port = 443) => judge(readAllow(list), host, port);

test("[NETWORK-2] an entry allows its host alone, on 443 and 80 unless it names a port", () => {
  const list = ["api.example.com", "git.example.com:22", "*.cdn.example.com", "*.corp.example:8443"];
  expect(verdict(list, "api.example.com")).toBe("public");
  expect(verdict(list, "api.example.com", 80)).toBe("public");
  expect(verdict(list, "api.example.com", 22)).toBe("no");
  expect(verdict(list, "git.example.com", 22)).toBe("literal");
  expect(verdict(list, "git.example.com")).toBe("no");
  expect(verdict(list, "a.b.cdn.example.com")).toBe("public");
  expect(verdict(list, "a.corp.example", 8443)).toBe("public");
  for (const host of [
    "cdn.example.com",
    "evilcdn.example.com",
    "example.com",
    "api.example.com.evil.net",
    "xapi.example.com",
  ]) {
    expect(verdict(list, host), host).toBe("no");
  }
  expect(verdict([], "api.example.com")).toBe("no");
  expect(verdict(["*"], "anything.example")).toBe("public");
  expect(verdict(["*"], "anything.example", 22)).toBe("no");
});

test("[NETWORK-2] hosts have one spelling; other spellings of addresses are refused", () => {
  expect(canonicalHost("API.Example.COM.")).toBe("api.example.com");
  expect(canonicalHost("127.0.0.1")).toBe("127.0.0.1");
  expect(canonicalHost("[2001:DB8:0:0::7]")).toBe("2001:db8::7");
  const refused = [
    "127.1",
    "0x7f000001",
    "2130706433",
    "1.2.3.4.5",
    "0x7f.0.0.0x1",
    "",
    ".",
    "a..b",
    "a b",
    "a/b",
    "[::1%lo]",
    "[1.2.3.4]",
    "é.example",
    "a@b",
    "x".repeat(64),
  ];
  for (const host of refused) expect(canonicalHost(host), host).toBe(null);
});

test("[NETWORK-2] an entry that is not one is named with the reason", () => {
  for (const text of [
    "https://example.com",
    "example.com/path",
    "::1",
    "example.com:0",
    "example.com:70000",
    "example.com:",
    "*.1.2.3.4",
    "a.*.example",
    "",
    "127.1:80",
  ]) {
    expect(parseAllow(text), text).toEqual({ problem: expect.stringContaining(`"${text}"`) as string });
  }
  expect(parseAllow("[::1]:8080")).toEqual({ host: "::1", match: "exact", port: 8080 });
});
