import * as fc from "fast-check";
import { expect, test } from "vitest";
import { prefixPattern, projectIdPattern } from "../contract/ids.ts";
import { prefixFor, safeName, unused } from "./names.ts";
import { nearest } from "../base/nearest.ts";

test.each([
  ["my-app", "ma"],
  ["holdfast", "hol"],
  ["web_front_end", "wfe"],
  ["go", "go"],
  ["3d-viewer", "p3v"],
  ["2048", "p204"],
  ["a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r", "abcdefghijkl"],
])("[CONFIG-7] %s gets the prefix %s", (id, prefix) => {
  expect(prefixFor(id)).toBe(prefix);
});

test.each([
  ["My App!", "my-app"],
  ["Café", "cafe"],
  ["--x--", "x"],
  ["日本", "project"],
  ["", "project"],
])("[CONFIG-7] %j becomes the id %s", (name, id) => {
  expect(safeName(name)).toBe(id);
});

test("[CONFIG-7] any name gives a valid id and prefix", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (name) => {
      const id = safeName(name);
      expect(id).toMatch(projectIdPattern);
      expect(unused(id, (taken) => taken === id, "-")).toMatch(projectIdPattern);
      expect(prefixFor(id)).toMatch(prefixPattern);
    }),
  );
});

test("the first free number", () => {
  const taken = new Set(["ma", "ma2"]);
  expect(unused("ma", (name) => taken.has(name))).toBe("ma3");
});

test.each([
  ["promt", ["prompt", "path"], "prompt"],
  ["default_branch", ["defaultBranch"], "defaultBranch"],
  ["knid", ["kind", "env"], "kind"],
  ["x", ["kind", "env"], null],
  ["colour", ["copy"], null],
])("%s is nearest to %j: %s", (typed, valid, meant) => {
  expect(nearest(typed, valid)).toBe(meant);
});
