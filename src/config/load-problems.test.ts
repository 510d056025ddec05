import { describe, expect, test } from "vitest";
import { idsWithModel } from "../agents/registry.ts";
import { file } from "./load.fixture.ts";
import { parseConfig, type ConfigKind } from "./load.ts";
import { formatProblem, problemsError } from "./file.ts";

/** Each text with exactly what is said about it, in this order. */
const wrong: [name: string, text: string, said: string[], kind?: ConfigKind][] = [
  [
    "an unknown key",
    "projects:\n  app:\n    defaultBranhc: main\n",
    ['3:5: unknown key "defaultBranhc" (did you mean "defaultBranch"?)'],
  ],
  [
    "a key in another spelling",
    "projects:\n  app:\n    post_create: []\n",
    ['3:5: unknown key "post_create" (did you mean "postCreate"?)'],
  ],
  [
    "an unknown key that resembles none",
    "colour: red\n",
    ['1:1: unknown key "colour" (valid here: defaults, projects, agents, notify)'],
  ],
  [
    "a key in the wrong place",
    "agent: codex\n",
    ['1:1: unknown key "agent" (it belongs under defaults or projects.<id>)'],
  ],
  [
    "a containment that does not exist",
    "defaults:\n  contain: worktre\n",
    ['2:12: "contain" must be off, worktree or devcontainer, not the text "worktre" (did you mean "worktree"?)'],
  ],
  [
    "an unknown key of a containment",
    "defaults:\n  contain: {mode: worktree, net: off}\n",
    ['2:29: unknown key "net" (did you mean "network"?)'],
  ],
  [
    "a containment's network and paths",
    "projects:\n  app:\n    contain: {network: {allow: [https://a.example]}, write: [x, ~/../y]}\n",
    [
      '3:33: entry 1 of "allow" is not a host: "https://a.example" (write a name such as api.example.com, without https://)',
      '3:62: entry 1 of "write" is neither a path nor a cache: "x" (write an absolute path, one that begins with ~/, or npm, pnpm, yarn, pip, uv, cargo, go, gradle, maven)',
      '3:65: entry 2 of "write" may not contain "..": "~/../y" (write an absolute path, one that begins with ~/, or npm, pnpm, yarn, pip, uv, cargo, go, gradle, maven)',
    ],
  ],
  [
    "a merge key",
    "defaults:\n  <<: {}\n",
    ['2:3: unknown key "<<" (merge keys are not supported; write the keys out)'],
  ],
  ["a key that objects cannot hold", "__proto__: {}\n", ['1:1: unknown key "__proto__" (remove it)']],
  [
    "projects in the person's own file",
    "projects: {}\n",
    ['1:1: unknown key "projects" (define projects in the repository\'s holdfast.yaml)'],
    "user",
  ],
  ["text for a map", "projects: app\n", ['1:11: "projects" must be a map of keys, not the text "app"']],
  ["a list for the file", "- a\n", ["1:1: the file must be a map of keys, not a list"]],
  ["a word for the file", "hello\n", ['1:1: the file must be a map of keys, not the text "hello"']],
  [
    "text for a list",
    "projects:\n  app:\n    copy: .env\n",
    ['3:11: "copy" must be a list, not the text ".env" (write it as a list: [".env"])'],
  ],
  [
    "a number for text",
    "projects:\n  app: {defaultBranch: 007}\n",
    ['2:24: "defaultBranch" must be text, not the number 7 (put it in quotes: "007")'],
  ],
  [
    "a number in a list of text",
    "projects:\n  app:\n    postCreate: [npm ci, 1]\n",
    ['3:26: entry 2 of "postCreate" must be text, not the number 1 (put it in quotes: "1")'],
  ],
  [
    "a variable's number, which may be a secret",
    "projects:\n  app:\n    env: {PIN: 1234}\n",
    ['3:16: "PIN" must be text, not a number (put it in quotes)'],
  ],
  [
    "text for a number",
    'defaults:\n  stuckMinutes: "30"\n',
    ['2:17: "stuckMinutes" must be an integer, not the text "30" (remove the quotes)'],
  ],
  [
    "half a number",
    "defaults: {idleStopMinutes: 1.5}\n",
    ['1:29: "idleStopMinutes" must be an integer, not the number 1.5'],
  ],
  ["a number too small", "defaults: {maxSessions: 0}\n", ['1:25: "maxSessions" must be at least 1, not the number 0']],
  [
    "a number too large",
    "defaults: {stuckMinutes: 1000000}\n",
    ['1:26: "stuckMinutes" must be at most 525600, not the number 1000000'],
  ],
  [
    "yes for true",
    "defaults: {restoreOnBoot: yes}\n",
    ['1:27: "restoreOnBoot" must be true or false, not the text "yes"'],
  ],
  [
    "another word than the listed",
    "defaults: {kind: chatt}\n",
    ['1:18: "kind" must be terminal or chat, not the text "chatt" (did you mean "chat"?)'],
  ],
  [
    "too many spare worktrees",
    "defaults: {spareWorktrees: 2}\n",
    ['1:28: "spareWorktrees" must be 0 or 1, not the number 2'],
  ],
  [
    "no value",
    "projects:\n  app:\n    agent:\n    kind: chat\n",
    ['3:5: "agent" has no value (give it one, or remove the line)'],
  ],
  ["nothing in a text", 'projects:\n  app: {path: ""}\n', ['2:15: "path" may not be empty']],
  ["no words in a command", "agents:\n  mine: {chat: {command: []}}\n", ['2:26: "command" may not be empty']],
  ["a missing key", "projects:\n  app:\n    tracker:\n      repo: a/b\n", ['3:5: "tracker" needs "type"']],
  [
    "a missing command",
    "agents:\n  mine:\n    terminal: {}\n",
    [
      '3:5: "mine" needs a terminal command or a chat command (add terminal: {command: [...]} or chat: {command: [...]})',
    ],
  ],
  [
    "a model that cannot be set",
    "agents:\n  demo: {model: m}\n  mine:\n    model: m\n    chat: {command: [x]}\n  claude: {model: opus}\n",
    [
      `2:17: "model" cannot be set for this agent (only ${idsWithModel.join(", ")} support it)`,
      '4:12: "model" cannot be set for this agent (put the model into the command)',
    ],
  ],
  [
    "resume without a command",
    "agents:\n  claude:\n    terminal: {resume: [x]}\n",
    ['3:15: "terminal" needs "command" with "resume" (add the command of a first start)'],
  ],
  [
    "a name of passEnv",
    "defaults: {passEnv: [MY-TOKEN, 'ACME_*', '*', HOLDFAST_PASSPHRASE]}\n",
    [
      '1:22: entry 1 of "passEnv" is not the name of an environment variable: "MY-TOKEN" (write a name such as MY_TOKEN, or a prefix such as ACME_*)',
      '1:42: entry 3 of "passEnv" is not the name of an environment variable: "*" (write a name such as MY_TOKEN, or a prefix such as ACME_*)',
      '1:47: entry 4 of "passEnv" may not name a variable of Holdfast itself: "HOLDFAST_PASSPHRASE" (remove the line)',
    ],
  ],
  [
    "an agent without a command",
    "agents:\n  mine: {env: {}}\n",
    [
      '2:9: "mine" needs a terminal command or a chat command (add terminal: {command: [...]} or chat: {command: [...]})',
    ],
  ],
  [
    "a project id",
    "projects:\n  My App!:\n    kind: x\n",
    [
      '2:3: "My App!" is not a project id (use lower-case letters, digits, - and _, such as my-app)',
      '3:11: "kind" must be terminal or chat, not the text "x"',
    ],
  ],
  [
    "an agent's name as a key",
    "agents:\n  A b: {chat: {command: [x]}}\n",
    ['2:3: "A b" is not an agent\'s name (use lower-case letters, digits, - and _, such as a-b)'],
  ],
  [
    "a variable's name",
    "projects:\n  app:\n    env: {A-B: x}\n",
    ['3:11: "A-B" is not the name of an environment variable (use letters, digits and _, not starting with a digit)'],
  ],
  [
    "an agent's name",
    "defaults: {agent: Claude Code}\n",
    ['1:19: "agent" is not an agent\'s name: lower-case letters, digits, - and _'],
  ],
  [
    "a prefix",
    "projects:\n  app: {prefix: My-}\n",
    ['2:17: "prefix" must be lower-case letters and digits, start with a letter, and have at most 16 of them'],
  ],
  [
    "one prefix twice",
    "projects:\n  app: {prefix: ap}\n  other: {prefix: ap}\n",
    ['3:19: prefix "ap" is already used by project "app" (choose another)'],
  ],
  [
    "a branch",
    "projects:\n  app: {defaultBranch: -main}\n",
    ['2:24: "defaultBranch" is not a branch name: "-main" (write it as in `git branch`, such as main)'],
  ],
  [
    "a token where its variable's name belongs",
    "projects:\n  app:\n    tracker: {type: github, tokenEnv: ghp-not-a-name}\n",
    ['3:39: "tokenEnv" must be the name of an environment variable, not the token itself'],
  ],
  [
    "a tracker's repository",
    "projects:\n  app:\n    tracker: {type: github, repo: 'a b'}\n",
    ['3:35: "repo" must look like owner/name'],
  ],
  [
    "an address",
    "notify:\n  webhook: ftp://localhost/x\n",
    ['2:12: "webhook" must be a web address that starts with http:// or https://'],
  ],
  [
    "a secret in the wrong form",
    "notify:\n  slack: [https://hooks.example/SECRET]\n  webhook: 12345678\n  desktop: maybe\n",
    [
      '2:10: "slack" must be text, not a list',
      '3:12: "webhook" must be text, not a number (put it in quotes)',
      '4:12: "desktop" must be true or false, not the text "maybe"',
    ],
  ],
  [
    "a secret in place of the map",
    "notify: https://hooks.example/SECRET\n",
    ['1:9: "notify" must be a map of keys, not text'],
  ],
  [
    "merging when checks failed",
    "projects:\n  app:\n    reactions:\n      ci-failed: {action: merge}\n",
    ['4:27: "action" must be send-to-agent or notify, not the text "merge"'],
  ],
  [
    "a reaction to nothing known",
    "projects:\n  app:\n    reactions:\n      ci-fail: {action: notify}\n",
    ['4:7: unknown key "ci-fail" (did you mean "ci-failed"?)'],
  ],
  [
    "NUL in a value",
    'projects:\n  app:\n    env: {A: "x\\0"}\n',
    ['3:14: "A" may not contain a NUL character (remove the \\0)'],
  ],
  [
    "a duplicate key",
    "defaults:\n  agent: a\n  kind: chat\n  agent: b\n",
    ['4:3: duplicate key "agent" (it is already set in line 2)'],
  ],
  ["a key that is a list", "? [a]\n: 1\n", ["1:3: a key must be plain text (remove the brackets or quotes around it)"]],
  ["a tab", "defaults:\n\tagent: a\n", ["2:1: tabs may not be used to indent (use spaces)"]],
  ["a quote left open", "defaults:\n  agent: 'a\n  kind: chat\n", ["2:10: this quote is not closed"]],
  [
    "a bracket left open",
    "projects:\n  app:\n    copy: [a, b\n    kind: chat\n",
    ["4:5: a [ or { above is not closed before this line (close it, or indent this line further)"],
  ],
  [
    "a second colon",
    "defaults: agent: a\n",
    ['1:11: a second ": " in one line (put the value in quotes, or check the indentation)'],
  ],
  [
    "a line without a colon",
    "defaults:\n  agent: a\n  kind\n  stuckMinutes: 3\n",
    ['3:3: a key without ":" (write it as "key: value")'],
  ],
  ["a reserved character", "defaults: {agent: @a}\n", ["1:19: a value may not start with @ (put it in quotes)"]],
  [
    "an unknown escape",
    'projects:\n  app: {path: "C:\\q"}\n',
    ["2:18: unknown escape in double quotes (use single quotes, or write \\\\ for a backslash)"],
  ],
  ["two documents", "defaults: {}\n---\ndefaults: {}\n", ["2:1: a second document starts here (remove the line ---)"]],
  ["an unknown tag", "defaults: !mine {}\n", ["1:11: unknown tag (remove the word that starts with !)"]],
  ["an alias to nothing", "defaults: *none\n", ["1:11: nothing above is marked &none"]],
  [
    "a control character",
    "defaults:\n  agent: a\u001b[2J\n",
    ["2:11: contains the control character U+001B (remove it)"],
  ],
  [
    "a terminal's control character in a key",
    '"\\e[2J": 1\n',
    ['1:1: unknown key "\\u001b[2J" (valid here: defaults, projects, agents, notify)'],
  ],
];

describe("parseConfig", () => {
  test.each(wrong)("[CONFIG-1] %s is reported with its line", async (_, text, said, kind) => {
    const loaded = await parseConfig(file, text, kind);
    expect(loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem))).toEqual(
      said.map((line) => `holdfast.yaml:${line}`),
    );
  });

  test("[CONFIG-2] everything wrong is reported at once, by line", async () => {
    const text =
      "notify: {desktop: 1}\nprojects:\n  app:\n    promt: x\n    kind: chatt\ndefaults: {maxSessions: -1}\n";
    const loaded = await parseConfig(file, text);
    expect(loaded.ok ? [] : loaded.problems.map(({ line, column }) => [line, column])).toEqual([
      [1, 19],
      [4, 5],
      [5, 11],
      [6, 25],
    ]);
  });

  test("[CONFIG-2] an unknown key above a slip of syntax is reported with it, one below is not", async () => {
    const loaded = await parseConfig(file, "defaultz: {}\ndefaults:\n\tagent: a\nprojekts: {}\n");
    expect(loaded.ok ? [] : loaded.problems.map((problem) => problem.line)).toEqual([1, 3]);
  });

  test.each([
    ["../secrets", 'entry 1 of "symlinks" must stay inside the repository, but "../secrets" leaves it'],
    ["a/../../b", 'entry 1 of "symlinks" must stay inside the repository, but "a/../../b" leaves it'],
    ["/etc/passwd", 'entry 1 of "symlinks" must stay inside the repository, but "/etc/passwd" is absolute'],
    ["~/x", 'entry 1 of "symlinks" must stay inside the repository, but "~/x" is absolute'],
    ["./", 'entry 1 of "symlinks" must name something inside the repository, not "./"'],
    [".git/hooks", 'entry 1 of "symlinks" may not name git\'s own files'],
  ])("[CONFIG-3] %s may not be linked into a worktree", async (path, message) => {
    const loaded = await parseConfig(file, `projects:\n  app:\n    symlinks:\n      - ${path}\n`);
    expect(loaded.ok ? [] : loaded.problems.map((problem) => [problem.line, problem.message])).toEqual([[4, message]]);
  });

  test("a problem found later gets the place of its key", async () => {
    const loaded = await parseConfig(file, "projects:\n  app:\n    path: ./gone\n");
    const problem = loaded.ok ? loaded.problem(["projects", "app", "path"], "is gone", null) : null;
    expect(problem).toEqual({ file, line: 3, column: 11, message: "is gone", hint: null });
  });

  test("the error contains every line and states that nothing was changed", async () => {
    const loaded = await parseConfig(file, "a: 1\nb: 2\n");
    const error = problemsError(loaded.ok ? [] : loaded.problems);
    expect(error).toMatchObject({ code: "invalid", hint: "Fix the file and try again; nothing was changed." });
    expect(error.message.split("\n")[0]).toBe("2 problems in /repo/holdfast.yaml:");
    expect(error.message.split("\n")).toHaveLength(3);
  });
});
