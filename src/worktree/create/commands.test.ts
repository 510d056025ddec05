import { expect, test } from "vitest";
import { splitArgv } from "./commands.ts";

test.each([
  ["npm ci", ["npm", "ci"]],
  ["  a\tb  ", ["a", "b"]],
  [`sh -c 'a && b | c > "$d"'`, ["sh", "-c", 'a && b | c > "$d"']],
  [`a "b c"'d'e "" \\$x`, ["a", "b cde", "", "$x"]],
  [String.raw`a "q\"q" "c:\dir"`, ["a", 'q"q', String.raw`c:\dir`]],
])("[WORKTREE-9] %s", (line, argv) => {
  expect(splitArgv(line)).toEqual(argv);
});

test.each([
  ["a && b", '"&" needs a shell'],
  ["a | b", '"|" needs a shell'],
  ["echo $HOME", '"$" needs a shell'],
  ['echo "$HOME"', '"$" needs a shell'],
  ["rm *", '"*" needs a shell'],
  ["a\nb", "more than one line"],
  ["a 'b", "quote is not closed"],
  ["a \\", "ends with a backslash"],
  ["   ", "it is empty"],
])("[WORKTREE-9] %s is refused", (line, why) => {
  expect(() => splitArgv(line)).toThrow(why);
});
