/** What a quick start needs and the bundler has no option for. */
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

/** Already loaded when a program starts. */
const loaded = new Set(["node:buffer", "node:fs", "node:path"]);
const requiredModule = /\b(node_[a-z_]+)=require\("(node:[a-z_/]+)"\)/g;

/**
 * Loads each of Node's own modules when it is first used: a start needs few of them, and node:crypto alone takes 8 ms
 * (bench/cli.ts, bench/daemon.ts). The sources import them as usual.
 */
export function builtInsOnDemand(): Plugin {
  return {
    name: "built-ins-on-demand",
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        // An entry file loads none up front: it refuses an old Node, which may not know the prefix `node:`.
        chunk.code = requireOnDemand(chunk.code, chunk.isEntry ? new Set() : loaded);
      }
    },
  };
}

function requireOnDemand(code: string, except: ReadonlySet<string>): string {
  const later = new Map(
    [...code.matchAll(requiredModule)].flatMap(([, name, id]) => (except.has(id!) ? [] : [[name!, id!]])),
  );
  return [...later].reduce((text, [name, id]) => {
    const [before = "", after = "", ...more] = text.split(`${name}=require("${id}")`);
    const called = [before, after].map((part) => part.replaceAll(new RegExp(`\\b${name}\\.`, "g"), `(${name}()).`));
    // Only `name.member` can be rewritten.
    if (more.length > 0 || new RegExp(`\\b${name}\\b(?!\\(\\))`).test(called.join("")))
      throw new Error(`${name} is used other than by its members`);
    return called.join(`${name}=(it=>()=>it||(it=require("${id}")))()`);
  }, code);
}
