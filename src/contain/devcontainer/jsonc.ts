/** JSON with comments and trailing commas, as devcontainer.json is written. */

/** Throws a SyntaxError where it is not valid. */
export function parseJsonc(text: string): unknown {
  return JSON.parse(withoutTrailingCommas(withoutComments(text.replace(/^\uFEFF/, ""))));
}

/** Strings first, so that `//` within one stays. Line breaks stay, so that positions in errors are right. */
const token = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g;

function withoutComments(text: string): string {
  return text.replace(token, (found) => (found.startsWith('"') ? found : found.replaceAll(/[^\n]/g, " ")));
}

function withoutTrailingCommas(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found.startsWith('"') ? found : " "));
}
