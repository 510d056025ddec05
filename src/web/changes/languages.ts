/**
 * The languages with syntax colors in diffs, by file ending. Few on purpose: each is a file of the bundle, and other diffs
 * read well without. Their grammars run on the browser's regular expressions, because the page allows no WebAssembly.
 */
const endings = {
  // C++ is similar enough, and its own grammar ten times the size.
  c: ["c", "h", "cc", "cpp", "hpp"],
  csharp: ["cs"],
  css: ["css"],
  docker: ["dockerfile"],
  go: ["go"],
  html: ["htm", "html"],
  java: ["java"],
  javascript: ["cjs", "js", "mjs"],
  json: ["json"],
  kotlin: ["kt"],
  lua: ["lua"],
  make: ["mk"],
  markdown: ["md"],
  python: ["py"],
  rust: ["rs"],
  shellscript: ["bash", "sh", "zsh"],
  sql: ["sql"],
  swift: ["swift"],
  toml: ["toml"],
  tsx: ["jsx", "tsx"],
  typescript: ["cts", "mts", "ts"],
  xml: ["svg", "xml"],
  yaml: ["yaml", "yml"],
} as const;
type Grammar = keyof typeof endings;

export const grammars = Object.keys(endings) as Grammar[];

const byEnding = new Map(grammars.flatMap((name) => endings[name].map((ending): [string, Grammar] => [ending, name])));
const byName = new Map<string, Grammar>([
  ["dockerfile", "docker"],
  ["makefile", "make"],
]);

export function languageOf(path: string): Grammar | "text" {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return (dot < 0 ? byName.get(name) : byEnding.get(name.slice(dot + 1))) ?? "text";
}
