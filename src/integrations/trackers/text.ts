/** Sanitizes external text, which is shown in terminals and pages and sent to agents. */

const maxTitleLength = 500;
/** An issue's body becomes a prompt. */
const maxBodyLength = 64 * 1024;

// eslint-disable-next-line no-control-regex
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
// Control and direction characters.
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** One line. */
export function plain(text: string, length = maxTitleLength): string {
  return prose(text, length).replace(/\s+/g, " ").trim();
}

/** Keeps lines and tabs. */
export function prose(text: string, length = maxBodyLength): string {
  const clean = text.replace(/\r\n?/g, "\n").replace(escapes, "").replace(controls, "");
  return clean.length > length ? `${clean.slice(0, length)}…` : clean;
}

/** GitLab's section markers; text after the carriage return is on the same line. */
const sectionMark = /^section_(?:start|end):\d+:[\w.-]+(?:\[[^\]]*\])?\r?/;
const timeMark = /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?/;
/** A minified file in a log is one line. */
const maxLineLength = 2000;

/** The last lines of a job's log, cleaned for an agent. */
export function logLines(log: string, lines: number): string[] {
  const clean = log
    .split("\n")
    .map((line) => {
      const text = line.replace(timeMark, "").replace(escapes, "").replace(sectionMark, "");
      // A progress bar overwrites its line: only the last text was visible.
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

/** The first comment's author is the thread's; replies are named in the text. */
export function threadText(comments: readonly { author: string; body: string }[]): { author: string; body: string } {
  const [first, ...answers] = comments;
  const body = [prose(first?.body ?? ""), ...answers.map((one) => `${plain(one.author)}: ${prose(one.body)}`)];
  return { author: plain(first?.author ?? "ghost"), body: prose(body.join("\n\n")) };
}

/** A reference to an issue or pull request: `123`, `#123`, `!7`, `owner/name#123`, or its address. */

interface Reference {
  /** Null: the tracker's own repository. */
  repo: string | null;
  number: number;
}

/** @param kinds path segments before the number: `issues`, `pull`, `merge_requests`. */
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
