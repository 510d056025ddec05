import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Imports the API in a fresh process and tells what that loaded. */
const script = `
  const loaded = [];
  process.getBuiltinModule("node:module").registerHooks({
    resolve: (specifier, context, next) => {
      loaded.push(specifier);
      return next(specifier, context);
    },
  });
  await import(process.argv[1]);
  await import(process.argv[2]);
  const packages = loaded.filter((each) => !/^(node:|file:|\\.|\\/)/.test(each));
  const fetch = process.moduleLoadList.filter((each) => each.includes("undici"));
  console.log(JSON.stringify({ packages, fetch }));
`;

test("[API-20] loading the API and the client loads no package, and not fetch's classes", () => {
  const modules = ["./server.ts", "../client/client.ts"].map((each) => new URL(each, import.meta.url).href);
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script, ...modules], {
    encoding: "utf8",
  });
  expect(JSON.parse(output)).toEqual({ packages: [], fetch: [] });
});
