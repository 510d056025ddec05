import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ruleText, type PermissionRule } from "../contract/permission-rules.ts";
import {
  matchesCommand,
  matchesName,
  matchesPath,
  judgeCall,
  optionFor,
  type CallFacts,
  type CallPath,
  commandParts,
} from "./permission-rules.ts";

const call = (more: Partial<CallFacts> = {}): CallFacts => ({
  agent: "claude",
  project: "app",
  tool: "execute",
  title: null,
  command: "npm test",
  extras: [],
  cwdInside: null,
  paths: [],
  ...more,
});
const at = (resolved: string | null, more: Partial<CallPath> = {}): CallPath => ({
  resolved,
  written: resolved ?? "gone",
  climbs: false,
  ...more,
});
const action = (rules: PermissionRule[], facts: Partial<CallFacts> = {}) => judgeCall(rules, call(facts)).action;

describe("[PERMISSION-2] the first rule that matches counts", () => {
  const rules: PermissionRule[] = [
    { action: "deny", command: "git push*" },
    { action: "ask", agent: "codex" },
    { action: "allow", project: "app", tool: "execute", command: "npm test *" },
  ];
  test.each([
    [{ command: "git push origin main" }, { rule: 1, action: "deny" }],
    [{ agent: "codex" }, { rule: 2, action: "ask" }],
    [{}, { rule: 3, action: "allow" }],
    [{ project: "other" }, { rule: null, action: null }],
    [
      { tool: "fetch", command: null },
      { rule: null, action: null },
    ],
  ])("%j", (facts, expected) => expect(judgeCall(rules, call(facts))).toMatchObject(expected));
  test("no rules, no answer", () => expect(action([])).toBeNull());
});

describe("[PERMISSION-4] an allowed command is one simple command", () => {
  const rule: PermissionRule[] = [{ action: "allow", command: "npm test *" }];
  test.each(["npm test", "npm test -- --watch", "  npm test  ", "npm test 'a b' \"c\" src/*.ts\n"])("%j", (command) =>
    expect(action(rule, { command })).toBe("allow"),
  );
  test.each([
    "npm test; curl x | sh",
    "npm test && rm -rf ~",
    "npm test | sh",
    "npm test & sh",
    "npm test $(sh)",
    "npm test `sh`",
    "npm test > ~/.bashrc",
    "npm test < /etc/passwd",
    "npm test\nsh",
    "npm test \\\nsh",
    "npm test ${IFS}",
    "npm test (sh)",
    "npm test \u001b[2K",
    "npm test \u202e",
    "npm test \u{e0041}",
    "npm test \u2028sh",
    "npm testevil",
    "FOO=1 npm test",
    "",
  ])("not %j", (command) => expect(action(rule, { command })).toBeNull());

  test("a metacharacter that the pattern names is meant", () => {
    const named: PermissionRule[] = [{ action: "allow", command: "npm run build && npm test *" }];
    expect(action(named, { command: "npm run build && npm test -u" })).toBe("allow");
    expect(action(named, { command: "npm run build && npm test && sh" })).toBeNull();
  });

  test("no text behind an allowed prefix adds a second command", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom(...Array.from("&;|$`<>()\\\n\r\u0000\u2028\u202e")),
        fc.string(),
        (a, meta, b) => {
          expect(action(rule, { command: `npm test ${a}${meta}${b}x` })).toBeNull();
        },
      ),
    );
  });

  test("unknown facts never match it", () => {
    expect(action(rule, { command: null, title: "npm test" })).toBeNull();
    expect(action(rule, { tool: null })).toBeNull();
    expect(action(rule, { tool: "other" })).toBeNull();
    expect(action(rule, { cwdInside: false })).toBeNull();
    expect(action(rule, { extras: ["env"] })).toBeNull();
    expect(action([{ action: "allow", tool: "execute" }], { tool: null })).toBeNull();
    expect(action(rule, { command: `npm test ${"a".repeat(20_000)}` })).toBeNull();
  });
});

describe("[PERMISSION-5] a denied command is found in any part of the line", () => {
  const rule: PermissionRule[] = [{ action: "deny", command: "curl *" }];
  test.each([
    "curl x",
    "npm test; curl x | sh",
    "npm test && sudo -E curl x",
    "echo $(curl x)",
    "echo `curl x`",
    "sh -c 'curl x'",
    "HTTPS_PROXY=y curl x",
    "/usr/bin/curl x",
    "true\ncurl x",
    "(curl x)",
  ])("%j", (command) => expect(action(rule, { command })).toBe("deny"));
  test("also in the title, where the agent names no command", () =>
    expect(action(rule, { command: null, title: "curl x" })).toBe("deny"));
  test("and nothing else is", () => expect(action(rule, { command: "curlew x" })).toBeNull());
  test("every part of a joined line is among its parts", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const simple = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
    const runners = ["sudo", "env", "command", "exec", "nohup", "time", "nice", "xargs", "builtin", "eval"];
    fc.assert(
      fc.property(
        fc.array(simple, { minLength: 1 }),
        fc.constantFrom(";", "&&", "|", "\n", " & "),
        (commands, joint) => {
          fc.pre(!commands.some((one) => runners.includes(one.split(" ")[0]!)));
          expect(commandParts(commands.join(joint))).toEqual(expect.arrayContaining(commands));
        },
      ),
    );
  });
});

describe("[PERMISSION-6] a rule that cannot be checked leaves the question to the user", () => {
  const rules: PermissionRule[] = [
    { action: "deny", command: "rm *" },
    { action: "deny", path: "**/.env" },
    { action: "allow", tool: "*" },
  ];
  test.each([
    [{ command: null }, { rule: 1, action: "ask", missing: "command" }],
    [{ command: "a".repeat(20_000) }, { rule: 1, action: "ask", missing: "command" }],
    [
      { command: null, tool: null },
      { rule: 1, action: "ask", missing: "command" },
    ],
    [
      { command: null, tool: "edit" },
      { rule: 2, action: "ask", missing: "path" },
    ],
    [
      { command: null, tool: "edit", paths: [at(null)] },
      { rule: 2, action: "ask", missing: "path" },
    ],
    [
      { command: null, tool: "edit", paths: [at("a.ts")] },
      { rule: 3, action: "allow", missing: null },
    ],
    [
      { command: null, tool: "fetch" },
      { rule: 3, action: "allow", missing: null },
    ],
  ])("%j", (facts, expected) => expect(judgeCall(rules, call(facts))).toEqual(expected));
});

describe("[PERMISSION-7] an allowed path holds for every path of the call", () => {
  const rule: PermissionRule[] = [{ action: "allow", path: "src/**" }];
  const edit = (...paths: CallPath[]) => action(rule, { tool: "edit", command: null, paths });
  test("all inside", () => expect(edit(at("src/a.ts"), at("src/b/c.ts"))).toBe("allow"));
  test.each([
    ["none named", []],
    ["one outside", [at("src/a.ts"), at("package.json")]],
    ["outside of the worktree", [at("/etc/passwd")]],
    ["a link that leads out", [at("/etc/passwd", { written: "src/link" })]],
    ["written with ..", [at("src/a.ts", { climbs: true })]],
    ["not to be found out", [at(null, { written: "src/a.ts" })]],
    ["git's own files", [at("src/.git/hooks/pre-commit")]],
  ])("%s is not allowed", (_, paths) => expect(edit(...paths)).toBeNull());
  test("says nothing about a command", () => expect(action(rule, { paths: [at("src/a.ts")] })).toBeNull());
  test.each([{ path: "src/**" }, { tool: "edit" }, { agent: "claude" }])(
    "%j does not allow a command that the agent calls an edit",
    (rule) => {
      const facts = { tool: "edit", paths: [at("src/a.ts")] };
      expect(action([{ action: "allow", ...rule }], { ...facts, command: "rm -rf /" })).toBeNull();
      expect(action([{ action: "allow", ...rule }], { ...facts, command: null })).toBe("allow");
    },
  );
  test("a denied path is found by its name and by where it leads", () => {
    const deny: PermissionRule[] = [{ action: "deny", path: "**/.env" }];
    const read = (...paths: CallPath[]) => action(deny, { tool: "read", command: null, paths });
    expect(read(at("a.ts"), at(".env"))).toBe("deny");
    expect(read(at("a/b/.ENV"))).toBe("deny");
    expect(read(at("/home/u/.env"))).toBe("deny");
    expect(read(at("/home/u/.env", { written: "link" }))).toBe("deny");
    expect(read(at("/home/u/x", { written: "a/.env" }))).toBe("deny");
    expect(read(at("a.env"))).toBeNull();
  });
});

describe("[PERMISSION-7] a rule without a path allows nothing outside of the worktree", () => {
  const rule: PermissionRule[] = [{ action: "allow", tool: "*" }];
  const call = (tool: string, ...paths: CallPath[]) => action(rule, { tool, command: null, paths });
  test("inside", () => {
    expect(call("edit", at("a.ts"), at("b/c.ts"))).toBe("allow");
    expect(call("search", at(""))).toBe("allow");
    expect(call("search")).toBe("allow");
    expect(call("fetch")).toBe("allow");
  });
  test.each([
    ["one outside", "edit", [at("a.ts"), at("/home/u/.bashrc")]],
    ["git's own files", "edit", [at(".git/config")]],
    ["unresolved", "read", [at(null)]],
    ["with ..", "read", [at("a.ts", { climbs: true })]],
    ["none named", "edit", []],
    ["a command that names one", "execute", [at("/etc/passwd")]],
  ])("not: %s", (_, tool, paths) => expect(call(tool, ...paths)).toBeNull());
  test("a rule that names the command is about that command, whatever paths the agent finds in it", () =>
    expect(action([{ action: "allow", command: "ls *" }], { command: "ls /etc", paths: [at("/etc")] })).toBe("allow"));
});

test("[PERMISSION-8] a change of the agent's mode is allowed by a rule that names it only", () => {
  const plan = { tool: "switch_mode", command: null };
  expect(action([{ action: "allow", agent: "claude" }], plan)).toBeNull();
  expect(action([{ action: "allow", tool: "*" }], plan)).toBeNull();
  expect(action([{ action: "allow", tool: "switch_mode" }], plan)).toBe("allow");
});

test("[PERMISSION-9] an automatic answer holds for one call", () => {
  const option = (kind: string, optionId = kind) => ({ optionId, name: "Reject", kind });
  const all = ["allow_always", "reject_always", "allow_once", "reject_once"].map((kind) => option(kind));
  expect(optionFor("allow", all)?.optionId).toBe("allow_once");
  expect(optionFor("deny", all)?.optionId).toBe("reject_once");
  expect(optionFor("ask", all)).toBeNull();
  expect(optionFor("allow", [option("allow_always"), option("reject_once")])).toBeNull();
  expect(optionFor("deny", [option("allow_once"), option("reject_always")])).toBeNull();
  // Which of two would be a guess.
  expect(optionFor("allow", [option("allow_once"), option("allow_once", "and-switch-mode")])).toBeNull();
  // One id that means two things.
  expect(optionFor("deny", [option("reject_once", "x"), option("allow_always", "x")])).toBeNull();
});

describe("[PERMISSION-3] patterns", () => {
  test.each([
    ["claude", "claude", true],
    ["claude*", "claude-2", true],
    ["*", "", true],
    ["c*e", "claude", true],
    ["claude", "Claude", false],
    ["c.aude", "claude", false],
  ])("name %j of %j: %j", (pattern, text, expected) => expect(matchesName(pattern, text)).toBe(expected));
  test.each([
    [String.raw`rm \*`, "rm *", true],
    [String.raw`rm \*`, "rm a", false],
    ["a*b*c", "abbbc", true],
    ["a*b*c", "acb", false],
  ])("command %j of %j: %j", (pattern, text, expected) =>
    expect(matchesCommand(pattern, text, "allow")).toBe(expected),
  );
  test.each([
    ["src/**", "src/a/b.ts", true],
    ["src/**", "src", true],
    ["src/*", "src/a/b.ts", false],
    ["src/*.ts", "src/a.ts", true],
    ["**", "", true],
    ["**/*.md", "README.md", true],
    ["**/*.md", "docs/a/b.md", true],
    ["/etc/**", "/etc/passwd", true],
    ["**", "/etc/passwd", false],
    ["/**", "a.ts", false],
    ["*", ".git", false],
    [".git/**", ".git/config", true],
    ["**/config", ".git/config", false],
    ["src/**", "srcx/a", false],
  ])("path %j of %j: %j", (pattern, path, expected) => expect(matchesPath(pattern, path, "allow")).toBe(expected));

  test("a pattern of literals matches exactly what a reference says", () => {
    const text = fc.stringMatching(/^[ab;]{0,8}$/);
    const pattern = fc.stringMatching(/^[ab;*]{0,6}$/);
    fc.assert(
      fc.property(pattern, text, (glob, line) => {
        const reference = new RegExp(`^${glob.replaceAll("*", "[^;]*")}$`).test(line);
        expect(matchesCommand(glob, line, "allow")).toBe(reference);
      }),
      { numRuns: 2000 },
    );
  });

  test("takes no longer than its text is long", () => {
    const line = `${"a".repeat(10_000)}b`;
    expect(matchesCommand(`${"*a".repeat(20)}*c`, line, "other")).toBe(false);
    expect(matchesPath(`${"**/a/".repeat(20)}x`, Array.from({ length: 1000 }, () => "a").join("/"), "other")).toBe(
      false,
    );
  });
});

test("[PERMISSION-1] a rule is named by its text", () => {
  expect(ruleText({ action: "allow", tool: "execute", command: 'npm "x" *' })).toBe(
    String.raw`allow tool "execute" command "npm \"x\" *"`,
  );
});
