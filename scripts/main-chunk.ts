/** What the bundler cannot be asked for: a main file that is one file, and that finds its functions compiled in Node's compile cache. */
import { basename } from "node:path";
import type { Plugin } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** Puts the bundler's few helpers into the main file too, which would otherwise load one more file for them. */
export function runtimeInMain(): Plugin {
  return {
    name: "runtime-in-main",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const runtime = chunks.find(({ name }) => name === "rolldown-runtime");
      const main = chunks.find(({ name }) => name === "main");
      if (runtime === undefined || main === undefined) return;
      const required = `require("./${basename(runtime.fileName)}")`;
      main.code = main.code.replace(required, () => `(exports=>{${runtime.code};return exports})({})`);
    },
  };
}

/**
 * Has V8 compile the main file's functions together with the file. Node writes its compile cache right after a file is
 * compiled, and V8 leaves functions for their first call: without this a command compiles some 70 of them each time, which
 * takes 1.5 ms. V8 compiles at once what stands in parentheses.
 */
export function compiledMain(): Plugin {
  return {
    name: "compiled-main",
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk" && file.name === "main") file.code = parenthesized(file.code);
      }
    },
  };
}

/** `function f() {…}` anywhere on the top level becomes `const f = (function f() {…});` in front of all else, where it is hoisted to anyway. */
function parenthesized(code: string): string {
  let hoisted = "";
  let rest = "";
  let at = 0;
  for (const statement of parseAst(code, { sourceType: "script" }).body) {
    if (statement.type !== "FunctionDeclaration" || statement.id === null) continue;
    hoisted += `const ${statement.id.name}=(${code.slice(statement.start, statement.end)});`;
    rest += code.slice(at, statement.start);
    at = statement.end;
  }
  return hoisted + rest + code.slice(at);
}
