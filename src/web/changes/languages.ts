/**
 * The languages with syntax colors in diffs. Few on purpose: each is a file of the bundle, and other diffs read well
 * without. Their grammars run on the browser's regular expressions, because the page allows no WebAssembly.
 */
export const grammars = [
  "c",
  "csharp",
  "css",
  "docker",
  "go",
  "html",
  "java",
  "javascript",
  "json",
  "kotlin",
  "lua",
  "make",
  "markdown",
  "python",
  "rust",
  "shellscript",
  "sql",
  "swift",
  "toml",
  "tsx",
  "typescript",
  "xml",
  "yaml",
] as const;
type Grammar = (typeof grammars)[number];

const byEnding: Record<string, Grammar> = {
  c: "c",
  h: "c",
  // Similar enough, and a tenth of the size.
  cc: "c",
  cpp: "c",
  hpp: "c",
  cs: "csharp",
  css: "css",
  dockerfile: "docker",
  go: "go",
  htm: "html",
  html: "html",
  java: "java",
  cjs: "javascript",
  js: "javascript",
  mjs: "javascript",
  json: "json",
  jsx: "tsx",
  kt: "kotlin",
  lua: "lua",
  mk: "make",
  md: "markdown",
  py: "python",
  rs: "rust",
  bash: "shellscript",
  sh: "shellscript",
  zsh: "shellscript",
  sql: "sql",
  swift: "swift",
  toml: "toml",
  tsx: "tsx",
  cts: "typescript",
  mts: "typescript",
  ts: "typescript",
  svg: "xml",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
};

const byName: Record<string, Grammar> = { dockerfile: "docker", makefile: "make" };

export function languageOf(path: string): Grammar | "text" {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  const [table, key] = dot < 0 ? [byName, name] : [byEnding, name.slice(dot + 1)];
  return Object.hasOwn(table, key) ? table[key]! : "text";
}
