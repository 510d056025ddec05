import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asSessionId } from "../contract/ids.ts";
import { branchFor, slug } from "./names.ts";

describe("[DECIDE-18] names made from user text are safe as branch, directory and tmux name", () => {
  test.each([
    ["INT-456", "int-456"],
    ["Fix: the  login!", "fix-the-login"],
    ["https://example.test/owner/my-app/issues/89?x=1#c", "89"],
    ["$(touch x) #(touch y) ../..", "touch-x-touch-y"],
    ["Überläufer", "uberlaufer"],
    ["…", "x"],
    ["", "x"],
  ])("%j becomes %s", (text, name) => {
    expect(slug(text)).toBe(name);
  });

  test("a long text is cut, without a dash at its end", () => {
    expect(slug(`${"a".repeat(39)}-bcd`)).toBe("a".repeat(39));
  });

  test.each([
    ["ma-3", null, null, 1, "ma-3"],
    ["ma-3", null, "New login", 1, "ma-3-new-login"],
    ["ma-3", null, "日本", 1, "ma-3"],
    ["ma-12", "12", "new login", 1, "12-new-login"],
    ["ma-12-2", "12", "new login", 2, "12-new-login-2"],
    ["ma-int-456", "INT-456", "INT-456: UI update", 1, "int-456-ui-update"],
    ["ma-int-456-2", "INT-456", null, 2, "int-456-2"],
  ])("the branch of %s for issue %s and title %s, time %i, is %s", (session, issue, title, again, branch) => {
    expect(branchFor({ session: asSessionId(session), issue, title, again })).toBe(branch);
  });

  test("whatever comes in, what goes out is short and plain", () => {
    const text = fc.option(fc.string({ unit: "binary", maxLength: 100 }));
    fc.assert(
      fc.property(text, text, (issue, title) => {
        const branch = branchFor({ session: asSessionId("ma-1"), issue, title, again: 1 });
        expect(branch).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/);
      }),
    );
  });
});
