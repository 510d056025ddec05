import { describe, expect, test } from "vitest";
import { parseConfig } from "./load.ts";
import { rulesOf } from "./permission-rules.ts";
import { formatProblem } from "./file.ts";

const load = async (text: string, kind: "user" | "project" = "user") =>
  rulesOf(await parseConfig("/c/config.yaml", text, kind));
const problems = async (text: string, kind: "user" | "project" = "user") => {
  const loaded = await parseConfig("/c/config.yaml", text, kind);
  return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem));
};

test("[PERMISSION-1] rules are read in their order, each with its line", async () => {
  const text = `
permissions:
  - deny: true
    command: "git push*"
  - {allow, tool: execute, command: npm test *, agent: claude, project: app, path: src/**}
  - ask:
    path: /etc/**
`;
  expect(await load(text)).toEqual({
    ok: true,
    file: "/c/config.yaml",
    rules: [
      { action: "deny", command: "git push*", line: 3 },
      {
        action: "allow",
        tool: "execute",
        command: "npm test *",
        agent: "claude",
        project: "app",
        path: "src/**",
        line: 5,
      },
      { action: "ask", path: "/etc/**", line: 6 },
    ],
  });
  expect(await load("defaults: {agent: claude}")).toMatchObject({ ok: true, rules: [] });
  expect(await load("permissions:")).toMatchObject({ ok: true, rules: [] });
});

describe("[PERMISSION-12] a mistake is reported with its line, and no rule of the file holds", () => {
  test.each([
    [
      "permissions:\n  - {tool: read}",
      'config.yaml:2:5: entry 1 of "permissions" needs exactly one of allow, ask and deny',
    ],
    ["permissions:\n  - {allow, deny, tool: read}", "needs exactly one of allow, ask and deny"],
    ["permissions:\n  - allow: true", "would match every call"],
    ["permissions:\n  - {allow: false, tool: read}", "config.yaml:2:13"],
    ["permissions:\n  - {allow, path: ../x}", "may not contain .."],
    ["permissions:\n  - {allow, path: ~/x}", "may not start with ~"],
    ["permissions:\n  - {allow, comand: x}", 'unknown key "comand" (did you mean "command"?)'],
    ["permissions:\n  - {allow, command: 3}", "must be text"],
    ["permissions: {allow: true}", "must be a list"],
  ])("%j", async (text, expected) => {
    expect((await problems(text)).join("\n")).toContain(expected);
    const loaded = await load(`${text}\n`);
    expect(loaded).toMatchObject({ ok: false });
  });
});

test("[PERMISSION-11] a repository's file that has rules is an error, and grants nothing", async () => {
  const text = "permissions:\n  - {allow, tool: execute}\n";
  expect(await problems(text, "project")).toEqual([
    'config.yaml:1:1: unknown key "permissions" (permission rules belong in your own config.yaml; a repository cannot grant permissions)',
  ]);
});
