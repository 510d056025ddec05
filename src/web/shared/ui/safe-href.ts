/** An address that may be a link: what is no web or mail address could be a script. */
const allowed = new Set(["http:", "https:", "mailto:"]);

export function safeHref(text: string): string | null {
  try {
    const url = new URL(text);
    return allowed.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
