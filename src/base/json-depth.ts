/** How deep JSON text is nested, without parsing it: serialising a deep value again overflows the stack. */

const quote = 0x22;
const backslash = 0x5c;

/** Whether arrays and objects are nested more than `limit` deep. Exact for valid JSON; of other text it says anything. */
export function isDeeperThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0) return false;
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash && at - 1 - slashes >= from) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
