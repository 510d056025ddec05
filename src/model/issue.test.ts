import { expect, test } from "vitest";
import { issuePrompt, issueTitle, isIssueOf, isPullRequestReference, issueKey, issueReference } from "./issue.ts";

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
])("[TRACKER-43] %s is the issue %s", (reference, key) => {
  expect(issueKey(reference)).toBe(key);
});

test("[TRACKER-43] number, key and address of one issue are one issue; another repository's of that number is not", () => {
  const seen = (key: string, url: string) => ({
    issue: key,
    issueSeen: { key, url, title: "t", state: "open" as const, labels: [], seenAt: 0 },
  });
  const own = seen("123", "https://github.com/owner/app/issues/123");
  expect(isIssueOf(own, "#123", null)).toBe(true);
  expect(isIssueOf(own, "https://github.com/Owner/app/issues/123#issuecomment-1", null)).toBe(true);
  expect(isIssueOf(own, "https://github.com/owner/other/issues/123", null)).toBe(false);
  expect(isIssueOf(own, "https://github.com/owner/app/issues/124", null)).toBe(false);
  expect(isIssueOf({ issue: "123" }, "https://github.com/owner/app/issues/123", null)).toBe(true);
  expect(isIssueOf({ issue: "INT-1" }, "https://linear.app/team/issue/int-1/title", null)).toBe(true);
  expect(isIssueOf({ issue: "login" }, "login", null)).toBe(true);
  expect(isIssueOf({ issue: "login" }, "other", null)).toBe(false);
  expect(isIssueOf({ issue: null }, "1", null)).toBe(false);
  expect(isIssueOf({ issue: "INT-1" }, "#1", "int")).toBe(true);
  expect(isIssueOf({ issue: "1" }, "INT-1", "INT")).toBe(true);
  expect(isIssueOf({ issue: "OPS-1" }, "1", "INT")).toBe(false);

  expect(issueReference(own, "Owner/App")).toBe("123");
  const elsewhere = seen("123", "https://github.com/owner/other/issues/123");
  expect(issueReference(elsewhere, "owner/app")).toBe("https://github.com/owner/other/issues/123");
  expect(issueReference(seen("7", "https://git.example.test/g/sub/app/-/work_items/7"), "g/sub/app")).toBe("7");
  expect(issueReference(seen("INT-1", "https://linear.app/team/issue/INT-1"), "INT")).toBe("INT-1");
  expect(issueReference({ issue: "12" }, "owner/app")).toBe("12");
});

test.each([
  ["https://github.com/owner/app/pull/12", true],
  ["https://github.com/owner/app/pull/12/files#diff", true],
  ["https://gitlab.example.test/g/sub/app/-/merge_requests/3?tab=x", true],
  ["!3", true],
  ["12", false],
  ["#12", false],
  ["https://github.com/owner/pull/issues/12", false],
  ["https://github.com/owner/app/pulls", false],
])("[TRACKER-46] that %s is a pull request is %s", (reference, is) => {
  expect(isPullRequestReference(reference)).toBe(is);
});

test("[TRACKER-43] the text of an issue is bounded, inert and marked as from outside", () => {
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
    "Work on issue 5: a b\nhttps://example.test/5\n\nIt has no description.",
  );
  expect(issuePrompt({ ...issue, body: "text" }, "My own words.")).toMatch(/^My own words\.\n\nIssue 5: a b\n/);
  expect(issueTitle({ ...issue, title: "" })).toBe("5");
});
