import { expect, test } from "vitest";
import { issuePrompt, issueTitle } from "./issue-prompt.ts";
import { isSameIssue, issueKey } from "./issue-reference.ts";

test.each([
  ["123", "123"],
  ["#123", "123"],
  [" int-1234 ", "INT-1234"],
  ["https://github.com/owner/app/issues/123", "123"],
  ["https://github.com/owner/app/issues/123#issuecomment-1", "123"],
  ["https://gitlab.example.test/group/app/-/issues/7?a=b", "7"],
  ["https://linear.app/team/issue/INT-1234/some-title", "INT-1234"],
  ["fix the login", null],
  ["login", null],
  ["https://example.test/page", null],
  ["issues/12", null],
])("[TRK-6] %s is the issue %s", (reference, key) => {
  expect(issueKey(reference)).toBe(key);
});

test("[TRK-6] number, key and address of one issue are one issue", () => {
  expect(isSameIssue("123", "https://github.com/owner/app/issues/123")).toBe(true);
  expect(isSameIssue("int-1", "INT-1")).toBe(true);
  expect(isSameIssue("login", "login")).toBe(true);
  expect(isSameIssue("login", "other")).toBe(false);
});

test("[TRK-6] the text of an issue is bounded, inert and marked as from outside", () => {
  const issue = {
    key: "5",
    url: "https://example.test/5",
    title: "a\n\u001b[31mb",
    body: "x".repeat(100_000),
    state: "open" as const,
    labels: [],
  };
  expect(issueTitle(issue)).toBe("a b");
  expect(issuePrompt(issue, null).length).toBeLessThan(62_000);
  expect(issuePrompt({ ...issue, body: "  " }, null)).toBe(
    "Work on issue 5: a b\nhttps://example.test/5\n\nIt has no text.",
  );
  expect(issuePrompt({ ...issue, body: "text" }, "My own words.")).toMatch(/^My own words\.\n\nIssue 5: a b\n/);
  expect(issueTitle({ ...issue, title: "" })).toBe("5");
});
