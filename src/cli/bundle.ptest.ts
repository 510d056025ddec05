/** The bundle as it is shipped: what must hold before any of our modules is loaded, and in other people's shells. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";

let directory: string;
let cli: string;
const built = join(import.meta.dirname, "../../dist/cli.cjs");

beforeAll(async () => {
  directory = mkdtempSync("/tmp/hf-bundle-");
  const bundle = await rolldown({ input: { cli: join(import.meta.dirname, "entry.ts") }, platform: "node" });
  await bundle.write({
    dir: directory,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
  });
  await bundle.close();
  cli = join(directory, "cli.cjs");
  writeFileSync(join(directory, "holdfast"), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  chmodSync(join(directory, "holdfast"), 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (node: string, ...args: string[]) =>
  spawnSync(node, args, {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: directory, HOLDFAST_HOME: join(directory, "h") },
  });

test("[CLI-15] an old Node is refused in words, before anything is loaded", () => {
  const disguise = join(directory, "old.cjs");
  writeFileSync(
    disguise,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "24.14.9" } });
     const { Module } = require("module");
     const load = Module._load;
     Module._load = (id, ...rest) => {
       if (id.startsWith("node:")) throw new Error("Cannot find module " + id);
       return load(id, ...rest);
     };`,
  );
  const ran = run(process.execPath, "--require", disguise, built, "info");
  expect([ran.status, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toMatch(/^Holdfast needs Node 24\.15 or newer; this is 24\.14\.9\.\n/);
});

test("[CLI-15] an old Node that is really there is refused as well", () => {
  const old = (process.env["PATH"] ?? "")
    .split(":")
    .map((path) => join(path, "node"))
    .filter(existsSync);
  const version = (node: string): number =>
    Number(execFileSync(node, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }));
  const tooOld = old.filter((node) => version(node) < 24);
  const answers = tooOld.map((node) => run(node, cli, "info"));
  expect(answers.map(({ status, stderr }) => [status, /needs Node 24\.15/.test(stderr)])).toEqual(
    tooOld.map(() => [1, true]),
  );
});

test("[CLI-16] as it is built, a plain command loads neither fetch nor node:http, and makes no home", () => {
  const spy = join(directory, "spy.cjs");
  writeFileSync(
    spy,
    'process.on("exit", () => console.error(process.moduleLoadList.join("\\n"), Object.keys(require.cache).join("\\n")));',
  );
  const ran = run(process.execPath, "--require", spy, built, "info", "--json");
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: "stopped" });
  expect(ran.stderr).not.toMatch(/NativeModule (http|_http_client|crypto|child_process)$|undici/m);
  expect(existsSync(join(directory, "h"))).toBe(false);
});

test("[CLI-16] as it is built, a plain command is two files", () => {
  const spy = join(directory, "files.cjs");
  writeFileSync(spy, 'process.on("exit", () => console.error(Object.keys(require.cache).join("\\n")));');
  const files = run(process.execPath, "--require", spy, built, "info").stderr.trim().split("\n");
  expect(files.slice(1).map((file) => basename(file).replace(/-[\w-]{8}\.cjs$/, ""))).toEqual(["cli.cjs", "cli-main"]);
});

test("[CLI-2] usage errors exit 2 and write nothing to stdout", () => {
  const ran = run(process.execPath, cli, "info", "--jsn");
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([2, "", "Unknown option '--jsn'\n(Did you mean --json?)\n"]);
});

test("[CLI-14] the bash completion loads and completes", () => {
  const lines = [
    `eval "$(holdfast completion bash)"`,
    'try() { COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; echo "${COMPREPLY[*]}"; }',
    "try ''",
    "try sess",
    "try session ki",
    "try spawn --kind ''",
    "try session kill ''",
    "try spawn --kind =",
    "try spawn --kind = te",
  ];
  const env = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory, HOLDFAST_HOME: join(directory, "h") };
  const ran = spawnSync("bash", ["--norc", "-c", lines.join("\n")], { encoding: "utf8", env });
  expect(ran.stderr).toBe("");
  const [first, ...rest] = ran.stdout.split("\n");
  expect(first).toMatch(/^init project spawn .* completion$/);
  expect(rest.join(" | ")).toBe("session | kill | terminal chat |  | terminal chat | terminal | ");
  expect(existsSync(join(directory, "h"))).toBe(false);
});

const shells = (): NodeJS.ProcessEnv => ({
  PATH: `${directory}:${process.env["PATH"]}`,
  HOME: directory,
  HOLDFAST_HOME: join(directory, "h"),
});
const isInstalled = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;

test.skipIf(!isInstalled("zsh"))(
  "[CLI-14] the zsh completion loads without compinit, and completes (needs zsh)",
  () => {
    const lines = [
      `eval "$(holdfast completion zsh)"`,
      // What zsh's own function would show.
      "compadd() { print -r -- ${(P)@[-1]} }",
      'try() { words=(holdfast "$@"); CURRENT=$#words; _holdfast }',
      "try session ki",
      "try spawn --kind=t",
      'print -r -- "$_comps[hold]"',
    ];
    const ran = spawnSync("zsh", ["-f", "-c", lines.join("\n")], { encoding: "utf8", env: shells() });
    expect([ran.stderr, ran.stdout]).toEqual(["", expect.stringMatching(/^kill\n--kind=terminal\n_holdfast\n$/)]);
  },
);

test.skipIf(!isInstalled("fish"))(
  "[CLI-14] the fish completion, installed as its help says, serves both names (needs fish)",
  () => {
    mkdirSync(join(directory, ".config/fish/completions"), { recursive: true });
    symlinkSync("holdfast", join(directory, "hold"));
    const fish = (...lines: string[]) =>
      spawnSync("fish", ["-c", lines.join("\n")], {
        encoding: "utf8",
        env: shells(),
        stdio: ["ignore", "pipe", "pipe"],
      });
    const help = run(process.execPath, cli, "completion", "--help").stdout;
    const [, line = ""] = /\$ (holdfast completion fish .*)/.exec(help) ?? [];
    expect(fish(line).stderr).toBe("");
    for (const name of ["holdfast", "hold"]) {
      const ran = fish(`complete -C '${name} session ki'`, `complete -C '${name} spawn --kind='`);
      const [kill, ...kinds] = ran.stdout.trim().split("\n");
      expect([ran.stderr, kill?.split("\t")[0], kinds]).toEqual(["", "kill", ["--kind=chat", "--kind=terminal"]]);
    }
  },
);
