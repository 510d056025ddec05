/** Keeps the main program in a single file, for which the bundler has no option. */
import { basename } from "node:path";
import type { Plugin } from "rolldown";

/** Puts the bundler's few helpers into the main file, which would otherwise load another file for them. */
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
