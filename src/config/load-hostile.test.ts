import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { file } from "./load.fixture.ts";
import { parseConfig } from "./load.ts";

describe("parseConfig", () => {
  test("[CONFIG-5] a doubling chain of aliases is refused in little time", async () => {
    const chain = Array.from(
      { length: 30 },
      (_, n) => `a${n + 1}: &a${n + 1} [${"*a".concat(String(n), ",").repeat(9)}]`,
    );
    const loaded = await parseConfig(file, ["a0: &a0 [x]", ...chain].join("\n"));
    expect(loaded.ok ? [] : loaded.problems.map((problem) => problem.message)).toContain("uses aliases too often");
  });

  test("[CONFIG-5] nesting without end is refused", async () => {
    for (const text of ["[".repeat(20_000), "{a: ".repeat(20_000), `a: ${"[".repeat(50)}${"]".repeat(50)}`]) {
      const loaded = await parseConfig(file, text);
      expect(loaded.ok ? [] : loaded.problems.map((problem) => problem.message)).toContain("is nested too deeply");
    }
  });

  test("[CONFIG-5] thousands of wrong keys take no time out of proportion and 50 lines", async () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `key${n}: 1`).join("\n");
    const loaded = await parseConfig(file, text);
    expect(loaded.ok ? 0 : loaded.problems.length).toBe(50);
  });

  test("[CONFIG-5] no text makes it throw", async () => {
    const words = [
      "projects",
      "app",
      "env",
      "&a",
      "*a",
      "!t",
      "<<",
      "? ",
      "- ",
      ": ",
      "|\n",
      ">\n",
      "[",
      "]",
      "{",
      "}",
      '"',
      "'",
      "\t",
      "\n",
      "  ",
      "#",
      "%YAML 1.1\n---\n",
      "...",
      "@",
      "1e9",
      "~",
      "\\",
    ];
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...words)).map((parts) => parts.join("")),
    );
    await fc.assert(
      fc.asyncProperty(text, async (source) => {
        const loaded = await parseConfig(file, source);
        const lines = source.split(/\r\n?|\n/).length;
        for (const problem of loaded.ok ? [] : loaded.problems) {
          expect(problem.line).toBeGreaterThan(0);
          expect(problem.line).toBeLessThanOrEqual(lines + 1);
          expect(problem.column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 400 },
    );
  });
});
