/** The sentence for a program that is not on PATH: the daemon writes it, and the CLI compares it with the user's own PATH. */
const onPath = /^(\S+) was not found on PATH\b/gm;

export function notOnPath(program: string): string {
  return `${program} was not found on PATH`;
}

/** The programs that a text names as missing. */
export function missingPrograms(text: string): string[] {
  return [...new Set([...text.matchAll(onPath)].map(([, program]) => program!))];
}
