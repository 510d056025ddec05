/** Input lines as the real agents showed them in a terminal of 160 columns, blanks at the end of lines included. */
import { expect, test } from "vitest";
import { claude } from "../agents/claude.ts";
import { codex } from "../agents/codex.ts";
import { gemini } from "../agents/gemini.ts";
import { thisMachine } from "../agents/registry.ts";
import { opencode } from "../agents/opencode.ts";
import { endsAtCursor, endsInMention, holds, inputOn, isCommand } from "./screen.ts";

const rule = "─".repeat(60);
const edge = `  ╹${"▀".repeat(60)}`;
const lines = {
  claude: claude.terminal!.input!,
  codex: codex.terminal!.input!,
  gemini: gemini(thisMachine()).terminal!.input!,
  opencode: opencode.terminal!.input!,
};
type Name = keyof typeof lines;

const words = "word ".repeat(60).trim();
const tall = Array.from({ length: 30 }, (_, index) => (index % 6 === 5 ? "" : `line ${index}`)).join("\n");
const blanks = " ".repeat(120);
/** With a prompt of two paragraphs that was sent before. */
const codexScreen = (...line: string[]): string =>
  ["› 1. first", " ", "  say: one", " ", "• done", " ", " ", ...line, " ", "  gpt-5.4 default · /w", blanks, ""].join(
    "\n",
  );
const [upper, lower] = ["▄".repeat(60), "▀".repeat(60)];
const geminiBox = (...line: string[]): string =>
  [
    upper,
    " > 1. first",
    "",
    "   say: one",
    lower,
    "✦ done",
    "",
    rule,
    " Shift+Tab",
    upper,
    ...line,
    lower,
    " /w",
    "",
  ].join("\n");

const screens: [Name, string, string, string | null][] = [
  ["claude", "empty", `● done\n\n${rule}\n❯\u00a0\n${rule}\n  ? for shortcuts\n`, ""],
  ["claude", "a hint", `${rule}\n❯ Try "fix the tests"\n${rule}\n`, ""],
  ["claude", "prompts that it keeps", `${rule}\n❯ Press up to edit queued messages\n${rule}\n`, ""],
  ["claude", "text", `${rule}\n❯ say: one\n  say: two\n${rule}\n`, "say: one\n  say: two"],
  ["claude", "paragraphs", `${rule}\n❯\u00a0[Pasted text #1 +4 lines]\n${rule}\n`, "Hi,\n\nsay: para\n\nThanks"],
  ["claude", "a command", `${rule}\n!\u00a0ls\n${rule}\n  ! for shell mode\n`, "!ls"],
  ["claude", "wrapped text", `${rule}\n❯\u00a0${"word ".repeat(31)}\n  ${"word ".repeat(29)}\n${rule}\n`, words],
  ["claude", "a menu", " ❯ 1. Resume from summary\n   2. Resume full session as-is\n", null],
  ["claude", "nothing yet", "\n\n", null],
  ["codex", "empty", "› say: before\n\n• done\n\n› Ask Codex to do anything\n\n  gpt-5.4 default · /w\n", ""],
  ["codex", "text", "› say: one\n\n  gpt-5.4 default · /w\n", "say: one"],
  [
    "codex",
    "paragraphs",
    codexScreen("› Hi,", blanks, "  say: para", " ", "  Thanks         "),
    "Hi,\n\nsay: para\n\nThanks",
  ],
  [
    "codex",
    "a list",
    codexScreen("› 1. first     ", "  2. second", " ", "  say: list"),
    "1. first\n2. second\n\nsay: list",
  ],
  ["codex", "a command", codexScreen("! ls            "), "!ls"],
  [
    "codex",
    "signs of its own in the text",
    codexScreen("› > quoted", " ", "  ! bang", " ", "  › arrow"),
    "> quoted\n\n! bang\n\n› arrow",
  ],
  ["codex", "wrapped text", codexScreen(`› ${"word ".repeat(31)}`, `  ${"word ".repeat(29)}`), words],
  [
    "codex",
    "text of full height",
    codexScreen(
      "› line 7",
      ...tall
        .split("\n")
        .slice(8)
        .map((line) => `  ${line}`),
      blanks,
    ),
    tall,
  ],
  ["codex", "an empty line below paragraphs", codexScreen("› Ask Codex to do anything"), ""],
  ["codex", "a dialog", "> You are in /w\n  Trust this folder?\n", null],
  ["gemini", "empty", `${rule}\n >   Type your message or @path/to/file\n${rule}\n`, ""],
  ["gemini", "text", `${rule}\n > say: one\n${rule}\n`, "say: one"],
  [
    "gemini",
    "shell mode",
    `${rule}\n !   Type your message or @path/to/file\n${rule}\n`,
    "! Type your message or @path/to/file",
  ],
  ["gemini", "paragraphs", geminiBox(" > Hi,", "", "   say: para", "", "   Thanks"), "Hi,\n\nsay: para\n\nThanks"],
  ["gemini", "a list", geminiBox(" > 1. first", "   2. second"), "1. first\n2. second"],
  ["gemini", "a command", geminiBox(" > !ls"), "!ls"],
  ["gemini", "a long paste", geminiBox(" > [Pasted Text: 36 lines]"), tall],
  ["gemini", "wrapped text", geminiBox(` > ${"word ".repeat(31)}word`, `   ${"word ".repeat(28)}`), words],
  ["gemini", "an empty line below paragraphs", geminiBox(" >   Type your message or @path/to/file"), ""],
  ["gemini", "starting", "\n ⠏ Loading\n", null],
  ["opencode", "empty", `  ┃\n  ┃  Ask anything... "Fix it"\n  ┃\n  ┃  Build · scripted\n${edge}\n`, ""],
  ["opencode", "text", `  ┃\n  ┃  say: one\n  ┃\n  ┃  Build · scripted\n${edge}\n`, "say: one"],
  [
    "opencode",
    "empty, beside another column",
    `  ┃\n  ┃\n  ┃${" ".repeat(70)}/tmp/w/\n  ┃  Build · scripted${" ".repeat(52)}w:main\n${edge}\n`,
    "",
  ],
  [
    "opencode",
    "empty below a conversation, beside a column",
    `  ┃                                                            scripted\n  ┃  say: before\n  ┃\n\n     before\n\n     ▣  Build · scripted · 31.7s\n\n\n  ┃\n  ┃\n  ┃                                                                /tmp/w\n  ┃  Build · scripted                                              oc-1\n${edge}\n   /tmp/w  ctrl+p commands\n`,
    "",
  ],
  [
    "opencode",
    "text below a conversation",
    `  ┃\n  ┃  say: before\n  ┃\n\n     before\n\n     ▣  Build · scripted · 31.7s\n\n\n  ┃\n  ┃  say: one\n  ┃\n  ┃  say: two\n  ┃\n  ┃  Build · scripted\n${edge}\n`,
    "say: one\n\nsay: two",
  ],
  ["opencode", "nothing yet", "\n".repeat(20), null],
];

test.each(screens)("[AGENT-16] %s with %s", (agent, _what, screen, text) => {
  const seen = inputOn(lines[agent], screen);
  const isHeld = seen.is === "text" && text !== null && holds(seen.text, text);
  const wanted = text === null ? "hidden" : text === "" ? "empty" : "text";
  expect([seen.is, isHeld]).toEqual([wanted, wanted === "text"]);
});

test.each([
  ["say: one", "say: one", true],
  ["say: one, wrapped\n  here", "say: one, wrapped here", true],
  ["[Pasted text #1 +206 lines]", "a long one", true],
  ["[Pasted ~3 lines] ", "a long one", true],
  ["the end of what fits in the line", "a beginning, then the end of what fits in the line", true],
  ["say: onesay: two", "say: two", false],
  ["one", "say: one", false],
  ["[Pasted text #1 +206 lines] and more", "a long one", false],
  ["[Pasted text #1 +2 lines][Pasted text #2 +9 lines]", "a long one", false],
  ["[Pasted text #1 +2 lines] [Pasted text #2 +9 lines]", "a long one", false],
  ["ls", "!ls", false],
])("[TERMINAL-31] a line with %j holds %j: %s", (line, prompt, is) => expect(holds(line, prompt)).toBe(is));

test.each([
  ["it ends there", ["demo> hello"], 11, "hello", true],
  ["its blanks at the end count for nothing", ["demo> hello"], 11, "hello \n", true],
  ["it wrapped", ["$ one tw", "o"], 1, "one two", true],
  ["it is in a frame", ["│ > one │", "│   two   │"], 7, "one\ntwo", true],
  ["a line break followed", ["demo> hello", ""], 0, "hello", false],
  ["a question followed", ["hello", "Run hello? [Y/n] "], 17, "hello", false],
  ["more followed", ["demo> hello there"], 17, "hello", false],
  ["only its end is there", ["demo> llo"], 9, "hello", false],
  ["the cursor is elsewhere", ["demo> hello"], 3, "hello", false],
])("[TERMINAL-37] a prompt ends before the cursor or not: %s", (_, rows, column, prompt, is) =>
  expect(endsAtCursor(rows, column, prompt)).toBe(is),
);

test("[TERMINAL-32] commands and mentions", () => {
  expect(["/clear", "!ls", "say /x", "a path /tmp"].map(isCommand)).toEqual([true, true, false, false]);
  expect(["see @file", "@a", "see @file ", "a@b", "mail a@b now"].map(endsInMention)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
