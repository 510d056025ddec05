/** Bundles the CLI, the daemon and the demo agent into dist/, as CommonJS: importing node:http as ESM would load all of fetch. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { rolldown, type Plugin } from "rolldown";
import { build as buildPage } from "vite";
import { builtInsOnDemand, runtimeInMain } from "./bundle-plugins.ts";

const root = join(import.meta.dirname, "..");
/** Written next to the old build and moved into place: a failed build leaves the old one. */
const dist = join(root, "dist.new");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const build = `${version}+${commit()}`;

/** One character beyond Latin-1 makes V8 store the file with two bytes per character: a millisecond of every start. */
const inAscii: Plugin = {
  name: "in-ascii",
  generateBundle(_options, bundle) {
    const escape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
    for (const chunk of Object.values(bundle)) {
      if (chunk.type === "chunk") chunk.code = chunk.code.replaceAll(/[^\0-\x7f]/g, escape);
    }
  },
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
// Built separately, so that no program loads code that only another one uses.
// All code that a start needs is in one file, even if a lazy part needs it too: each further file costs half a millisecond.
await bundleOne("cli", "src/cli/entry.ts", [{ name: "main", test: /src\/cli\/main\.ts$/ }]);
await bundleOne("daemon", "src/daemon/entry.ts", [{ name: "main", test: /src\/daemon\/main\.ts$/ }]);
await bundleOne("check-database", "src/store/check-program.ts", []);
await bundleOne("demo-agent", "src/agents/demo/terminal.ts", []);
await bundleOne("demo-acp", "src/agents/demo/acp.ts", []);
await bundleOne("network-proxy", "src/contain/network/proxy.ts", []);
await bundleOne("network-bridge", "src/contain/network/bridge.ts", []);
copyFileSync(join(root, "src/chat/keeper.sh"), join(dist, "keeper.sh"));
// The torture run's mutated copies need no dashboard.
if (!process.argv.includes("--no-web")) await buildWeb(join(dist, "web"));
writeFileSync(join(dist, "build.json"), `${JSON.stringify({ version, build })}\n`);
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(dist, join(root, "dist"));

async function bundleOne(name: string, entry: string, groups: object[]): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: { [name]: entry },
    preserveEntrySignatures: false,
    platform: "node",
    // Has a native part, which is next to the build (see src/cli/system/daemon/install-build.ts).
    external: ["@lydell/node-pty"],
    plugins: [runtimeInMain(), builtInsOnDemand()],
    transform: {
      define: {
        __HOLDFAST_VERSION__: JSON.stringify(version),
        __HOLDFAST_BUILD__: JSON.stringify(build),
      },
    },
  });
  await bundle.write({
    dir: dist,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: `chunks/${name}-[name]-[hash].cjs`,
    codeSplitting: { groups: groups as { name: string; test: RegExp }[] },
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    plugins: [inAscii],
  });
  await bundle.close();
}

/** The dashboard, with a compressed copy of each text file, so that the daemon never compresses while it serves. */
async function buildWeb(outDir: string): Promise<void> {
  await buildPage({
    configFile: join(root, "src/web/vite.config.ts"),
    logLevel: "warn",
    define: { __HOLDFAST_BUILD__: JSON.stringify(build) },
    build: { outDir, emptyOutDir: true },
  });
  for (const file of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
    if (!/\.(js|css|html|svg|webmanifest|wasm)$/.test(file)) continue;
    const bytes = readFileSync(join(outDir, file));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(join(outDir, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(outDir, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/** The commit, plus a digest of the sources if the tree differs from it, so that every build of other code has its own id. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
  try {
    const id = git("rev-parse", "--short=10", "HEAD");
    return git("status", "--porcelain", "--", "src", "package.json") === "" ? id : `${id}.${digest()}`;
  } catch {
    return digest();
  }
}

function digest(): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).sort()) {
    if (/\.(ts|tsx|sh|css|html)$/.test(file)) hash.update(file).update(readFileSync(join(root, "src", file)));
  }
  return hash.digest("hex").slice(0, 10);
}
