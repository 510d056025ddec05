/** What strangers wrote, made harmless: it is shown in terminals and pages, and sent to agents. */

/** Longer titles are shown nowhere. */
const maxTitleLength = 500;
/** An issue's body becomes a prompt; both hosts allow about as much. */
const maxBodyLength = 64 * 1024;

// eslint-disable-next-line no-control-regex
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
// Controls, and the marks that turn the direction of writing.
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** One line. */
export function plain(text: string, length = maxTitleLength): string {
  return prose(text, length).replace(/\s+/g, " ").trim();
}

/** Lines and tabs stay. */
export function prose(text: string, length = maxBodyLength): string {
  const clean = text.replace(/\r\n?/g, "\n").replace(escapes, "").replace(controls, "");
  return clean.length > length ? `${clean.slice(0, length)}…` : clean;
}

/** A runner's marks of a section; the text behind the carriage return stands on the same line. */
const sectionMark = /^section_(?:start|end):\d+:[\w.-]+(?:\[[^\]]*\])?\r?/;
const timeMark = /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?/;
/** A minified file in a log is one line. */
const maxLineLength = 2000;

/** The last lines of a job's log as an agent should read them. */
export function logLines(log: string, lines: number): string[] {
  const clean = log
    .split("\n")
    .map((line) => {
      const text = line.replace(timeMark, "").replace(escapes, "").replace(sectionMark, "");
      // A progress bar overwrites its line: what stood last is what a person saw.
      const last = text.replace(/\r+$/, "").split("\r").at(-1) ?? "";
      return plainLine(last);
    })
    .slice(0, log.endsWith("\n") ? -1 : undefined);
  while (clean.length > 0 && clean.at(-1) === "") clean.pop();
  return clean.slice(-lines);
}

function plainLine(text: string): string {
  const clean = text.replace(controls, "").trimEnd();
  return clean.length > maxLineLength ? `${clean.slice(0, maxLineLength)}…` : clean;
}

/** A thread's first voice is its author; who answered is named in the text. */
export function spoken(comments: readonly { author: string; body: string }[]): { author: string; body: string } {
  const [first, ...answers] = comments;
  const body = [prose(first?.body ?? ""), ...answers.map((one) => `${plain(one.author)}: ${prose(one.body)}`)];
  return { author: plain(first?.author ?? "ghost"), body: prose(body.join("\n\n")) };
}

/** What a person writes for an issue or pull request: `123`, `#123`, `!7`, `owner/name#123`, or its address. */

interface Reference {
  /** Null: the tracker's own repository. */
  repo: string | null;
  number: number;
}

/** `kinds` are the words an address has before the number: `issues`, `pull`, `merge_requests`. */
export function readReference(text: string, webOrigin: string, kinds: readonly string[]): Reference | null {
  const short = /^(?:([\w.-]+(?:\/[\w.-]+)+))?[#!]?(\d{1,9})$/.exec(text.trim());
  if (short !== null && (short[1] === undefined || /[#!]/.test(text))) {
    return { repo: short[1] ?? null, number: Number(short[2]) };
  }
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.origin !== webOrigin) return null;
  const path = new RegExp(`^/([\\w.-]+(?:/[\\w.-]+)+?)/(?:-/)?(?:${kinds.join("|")})/(\\d{1,9})(?:/|$)`);
  const parts = path.exec(url.pathname);
  return parts === null ? null : { repo: parts[1]!, number: Number(parts[2]) };
}

export function sameRepo(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
