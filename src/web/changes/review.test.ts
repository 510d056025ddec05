import { expect, test } from "vitest";
import { composePrompt, type Comment } from "./review.ts";

const comment = (over: Partial<Comment>): Comment => ({
  id: "1",
  path: "a.ts",
  side: "additions",
  line: 1,
  quote: "const a = 1;",
  text: "Why one?",
  ...over,
});

test("[WEB-44] comments become one prompt, by file and line, each with its quoted line", () => {
  expect(composePrompt([comment({})])).toBe("A comment on your changes:\n\n1. a.ts:1\n> const a = 1;\nWhy one?");
  const many = composePrompt([
    comment({ path: "b.ts", line: 3, text: " third \n" }),
    comment({ line: 9, side: "deletions", text: "second" }),
    comment({ line: 2, text: "first" }),
  ]);
  expect(many.split("\n\n")).toEqual([
    "3 comments on your changes:",
    "1. a.ts:2\n> const a = 1;\nfirst",
    "2. a.ts:9 (removed line)\n> const a = 1;\nsecond",
    "3. b.ts:3\n> const a = 1;\nthird",
  ]);
});
