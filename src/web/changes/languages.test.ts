import { expect, test } from "vitest";
import { languageOf } from "./languages.ts";

test.each([
  ["src/a.ts", "typescript"],
  ["Dockerfile", "docker"],
  ["a/Makefile", "make"],
  ["a.b/c", "text"],
  ["x.unknown", "text"],
  ["constructor", "text"],
  ["README.MD", "markdown"],
])("the language of %s is %s", (path, language) => {
  expect(languageOf(path)).toBe(language);
});
