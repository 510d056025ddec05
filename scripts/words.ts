/**
 * Finds words that we do not use in sources and documentation. `node scripts/words.ts [path …]` prints each occurrence with a
 * replacement; without paths it checks the project. A line with `writing-ok: <reason>` is skipped.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

interface Word {
  pattern: RegExp;
  instead: string;
}

/** The patterns are for sentences, not identifiers. */
export const words: readonly Word[] = [
  { pattern: /\btold\b/i, instead: "notified, reported, prompted, asked" },
  { pattern: /\btells?\b(?!\()/i, instead: "prints, shows, notifies, distinguishes" },
  { pattern: /\b(?:says|(?<!You )said)\b/i, instead: "prints, reports, states" },
  { pattern: /\bhear[ds]?\b/i, instead: "received, polled, seen" },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: "fix, repair" },
  { pattern: /\banew\b/i, instead: "again, recreate, restart" },
  { pattern: /\bin vain\b/i, instead: "without success, timed out" },
  { pattern: /(?<!\bthere )\b(?:is|are) none\b/i, instead: "is not a, there is no" },
  { pattern: /(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b)[a-z]+/i, instead: "is not a" },
  { pattern: /\b(?:by|of) itself\b/i, instead: "automatically, on its own" },
  { pattern: /\b(?:go(?:es)? on|went on)\b/i, instead: "continue, keep running" },
  { pattern: /\bplainly\b/i, instead: "without resuming; or nothing" },
  { pattern: /\bpolitely\b/i, instead: "gracefully" },
  { pattern: /\bshall\b/i, instead: "should, will, must" },
  { pattern: /(?<!\bas a )\bwhole\b(?! process| number)/i, instead: "complete, intact, entire" },
  { pattern: /\bfor (?:good|ever)\b/i, instead: "permanently, forever" },
  { pattern: /\bany more\b/i, instead: "anymore, no longer" },
  { pattern: /\b(?:takes?|took|taken) up\b/i, instead: "resume, reuse" },
  { pattern: /\bputs? away\b/i, instead: "archive, dismiss" },
  { pattern: /\bhand(?:s|ed)? (?:it )?over\b/i, instead: "move, switch, transfer" },
  { pattern: /\bat work\b/i, instead: "working, running" },
  { pattern: /\bstands? (?:in|at|between|beside|behind|under)\b/i, instead: "is in, appears" },
  { pattern: /\bcould not be (?:had|looked at)\b/i, instead: "could not load, check" },
  { pattern: /\blook(?:s|ed|ing)? at\b/i, instead: "check, inspect, view" },
  { pattern: /\bis to be\b/i, instead: "must be, will be" },
  { pattern: /\b(?:a|the) person\b/i, instead: "you, the user" },
  { pattern: /\b(?:whoever|nobody|somebody)\b/i, instead: "name the actor" },
  { pattern: /\bof (?:its|their|our|your) own\b(?! [\w`])/i, instead: "its own X" },
  { pattern: /\bwithout the agent's word\b/i, instead: "force-end" },
  { pattern: /\bone (?:object|line|event|session|file) a\b/i, instead: "per" },
  { pattern: /\b(?:colours?|licence|behaviou?rs?(?<=our|ours))\b/i, instead: "American spelling" },
];

export interface Found {
  file: string;
  line: number;
  text: string;
  word: string;
  instead: string;
}

export function findWords(file: string, text: string): Found[] {
  const found: Found[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.includes("writing-ok:")) continue;
    const prose = /\.tsx?$/.test(file) ? proseOf(line) : line;
    for (const { pattern, instead } of words) {
      const match = pattern.exec(prose);
      if (match !== null) found.push({ file, line: index + 1, text: line.trim(), word: match[0], instead });
    }
  }
  return found;
}

/** The comment, the strings with a space, and JSX text of a line of code: names follow the glossary instead. */
function proseOf(line: string): string {
  if (/^\s*(?:\/?\*|\/\/)/.test(line) || !/[=;:(){}[\]<>]/.test(line)) return line;
  const strings = line.match(/"(?:[^"\\]|\\.)*"|`[^`]*`?|\s\/\/.*$/g) ?? [];
  return strings.filter((text) => text.includes(" ")).join("  ");
}

/** Sources, documentation and scripts; not tests, whose titles quote user input, and not the history. */
export function checkedFiles(paths: readonly string[] = []): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...paths], {
    cwd: root,
    encoding: "utf8",
  });
  return listed
    .split("\n")
    .filter((file) => /\.(?:tsx?|css|sh|md)$/.test(file))
    .filter(
      (file) => !/\.(?:p?test|fixture)\.tsx?$|test-support\/|^test\/|^scripts\/words\.ts$|^CHANGELOG\.md$/.test(file),
    );
}

if (import.meta.main) {
  const found = checkedFiles(process.argv.slice(2)).flatMap((file) =>
    findWords(file, readFileSync(join(root, file), "utf8")),
  );
  for (const { file, line, word, instead, text } of found) {
    process.stdout.write(`${file}:${line}: "${word}" → ${instead}\n    ${text.slice(0, 160)}\n`);
  }
  process.stdout.write(`${found.length} found\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
