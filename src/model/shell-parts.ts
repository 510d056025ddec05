/** Takes a command line apart as far as permission rules need it. No shell: only what is certain without running one. */

/** Between two of these is one command, or the inside of a quote, a group or a substitution. */
const separators = /[;&|\n\r`(){}<>"']|\$\(/;
/** Programs that run the command behind them. */
const runners = new Set(["sudo", "env", "command", "exec", "nohup", "time", "nice", "xargs", "builtin", "eval"]);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;
const blank = /\s+/;
/** Nobody writes more assignments and runners before a command; a line made of them would take quadratic time. */
const maxStripped = 20;

/**
 * Every command that the line may contain: the line itself, and each part of it with and without assignments, runners
 * such as `sudo`, and the directory of its program. More rather than fewer: only rules that deny or ask use it.
 */
export function commandParts(line: string): string[] {
  const found = new Set<string>([line.trim()]);
  for (const part of line.split(separators)) {
    let words = part.trim().split(blank);
    for (let stripped = 0; stripped <= maxStripped && words.length > 0; stripped++) {
      const [first = ""] = words;
      if (first === "") break;
      found.add(words.join(" "));
      const name = first.slice(first.lastIndexOf("/") + 1);
      found.add([name, ...words.slice(1)].join(" "));
      if (!assignment.test(first) && !runners.has(name) && !first.startsWith("-")) break;
      words = words.slice(1);
    }
  }
  return [...found];
}
