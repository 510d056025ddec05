/** Names that git takes. */

/** The rules of `git check-ref-format --branch`, so that a bad name is refused before anything is made. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD" || name.startsWith("-") || Buffer.byteLength(name) > 240)
    return false;
  // oxlint-disable-next-line no-control-regex -- git forbids control characters
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|^\/|\/$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}
