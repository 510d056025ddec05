import { expect, test } from "vitest";
import { commandsFor, tokenAt } from "./completion.tsx";

test.each([
  ["/he", 3, { kind: "command", query: "he", from: 0 }],
  ["say /he", 7, null],
  ["look @src/a", 11, { kind: "file", query: "src/a", from: 5 }],
  ["look @src/a now", 15, null],
  ["mail a@b", 8, null],
  ["@", 1, { kind: "file", query: "", from: 0 }],
  ["", 0, null],
])("[WEB-59] completion in %j at %d", (text, caret, token) => {
  expect(tokenAt(text, caret)).toEqual(token);
});

test("[WEB-59] commands match by any part of their name, prefixes first; malformed ones are left out", () => {
  const commands = [{ name: "history", description: "h" }, { name: "his" }, { name: "what-his" }, { nothing: 1 }, null];
  expect(commandsFor("his", commands).map(({ label }) => label)).toEqual(["/history", "/his", "/what-his"]);
  expect(commandsFor("x", null)).toEqual([]);
});
