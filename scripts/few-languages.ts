/**
 * Limits the bundle to the grammars that changes/languages.ts names. The diff viewer would include about three hundred,
 * with themes and two WebAssembly engines that the page's content policy blocks.
 */
import type { Plugin } from "vite";
import { grammars } from "../src/web/changes/languages.ts";

const replaced: Record<string, string> = {
  "shiki/langs": [
    "export const bundledLanguages = {",
    ...grammars.map((name) => `  ${JSON.stringify(name)}: () => import("shiki/langs/${name}.mjs"),`),
    "};",
  ].join("\n"),
  "shiki/wasm": "export default null;",
  "shiki/engine/oniguruma": "export const createOnigurumaEngine = null;",
  "@pierre/highlights":
    "export const codeToTokens = null, isSupportedLanguage = () => false; export class LiveTokenizer {}",
  "@pierre/highlights/themes/loader": "export default {};",
  "@pierre/theming/themes": "export default {};",
};

const mark = "\0holdfast-few:";

export function fewLanguages(): Plugin {
  return {
    name: "holdfast-few-languages",
    enforce: "pre",
    resolveId: (source) => (Object.hasOwn(replaced, source) ? mark + source : null),
    load: (id) => (id.startsWith(mark) ? (replaced[id.slice(mark.length)] ?? null) : null),
  };
}
