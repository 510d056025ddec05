import { describe, expect, test } from "vitest";
import { chosenBy, keysLine, keysOf, meaningOfInterrupt } from "./keys.ts";
import { ChatScreen } from "./chat.ts";
import { makePaint } from "../render/text.ts";

const option = (kind: string, name = kind): { optionId: string; name: string; kind: string } => ({
  optionId: `id-${name}`,
  name,
  kind,
});
const question = (...kinds: string[]) => ({ requestId: "r", title: "t", options: kinds.map((kind) => option(kind)) });

describe("[CLI-22] keys of a question", () => {
  test.each([
    [["allow_once", "allow_always", "reject_once", "reject_always"], "yand"],
    [["reject_once", "allow_once"], "ny"],
    [["allow_always", "allow_always", "allow_once", "reject_once"], "a1yn"],
    [["", "something"], "12"],
  ])("%j are %s", (kinds, keys) => {
    const keyed = keysOf(kinds.map((kind) => option(kind)));
    expect(keyed.map(({ key }) => key).join("")).toBe(keys);
  });

  test("are all different, however many there are", () => {
    const keys = keysOf(Array.from({ length: 40 }, (_, at) => option("allow_once", String(at)))).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("are shown with the options' names", () => {
    const shown = { requestId: "r", title: "t", options: [option("allow_once", "Yes\u0007"), option("", "Other")] };
    expect(keysLine(shown, makePaint(false))).toBe("  [y] allow once: Yes⟨U+0007⟩   [1] effect not stated: Other");
  });

  test("one key chooses; pasted text, unknown keys and keys typed too early do not", () => {
    const asked = question("allow_once", "reject_once");
    expect(chosenBy("y", asked, 1000)?.kind).toBe("allow_once");
    expect(chosenBy("N", asked, 1000)?.kind).toBe("reject_once");
    for (const typed of ["yes", "a", "\r", "", "\u001b[A"]) expect(chosenBy(typed, asked, 1000)).toBeNull();
    expect(chosenBy("y", asked, 100)).toBeNull();
  });
});

test.each([
  [{ sinceLastMs: Infinity, hasLine: false, turnOpen: true }, "cancel"],
  [{ sinceLastMs: 500, hasLine: false, turnOpen: true }, "leave"],
  [{ sinceLastMs: 5_000, hasLine: false, turnOpen: true }, "cancel"],
  [{ sinceLastMs: Infinity, hasLine: false, turnOpen: false }, "show-hint"],
  [{ sinceLastMs: Infinity, hasLine: true, turnOpen: true }, "clear-line"],
  [{ sinceLastMs: 500, hasLine: true, turnOpen: false }, "leave"],
])("[CLI-22] Ctrl-C with %j means %s", (state, meaning) => expect(meaningOfInterrupt(state)).toBe(meaning));

describe("[CLI-22] one terminal for output and typed lines", () => {
  function open() {
    const written: string[] = [];
    const editor = { line: "" };
    const screen = new ChatScreen((text) => void written.push(text), {
      line: () => editor.line,
      prompt: () => void written.push("> "),
    });
    return { screen, editor, all: () => written.splice(0).join("|") };
  }

  test("text is written as it comes, and the prompt makes room for it", () => {
    const { screen, all } = open();
    screen.show("a");
    screen.show("b");
    expect(all()).toBe("a|b");
    screen.prompt();
    screen.prompt();
    expect(all()).toBe("\n|> ");
    screen.show("c\n");
    screen.prompt();
    expect(all()).toBe("\r\u001b[K|c\n|> ");
  });

  test("text waits while a line is in the making, until it is sent or emptied", () => {
    const { screen, editor, all } = open();
    screen.prompt();
    editor.line = "h";
    screen.show("a");
    screen.show("b\n");
    expect(all()).toBe("> ");
    editor.line = "";
    screen.release();
    expect(all()).toBe("\r\u001b[K|ab\n");
    screen.prompt();
    editor.line = "hi";
    screen.show("c\n");
    editor.line = "";
    screen.submitted();
    expect(all()).toBe("> |c\n");
  });
});
