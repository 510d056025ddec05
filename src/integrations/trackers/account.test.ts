import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run, type Run } from "../../base/run.ts";
import type { TrackerSettings } from "../../ports/tracker.ts";
import { findToken } from "./account.ts";

let configDir: string;
const asked: string[][] = [];
const noGh: Run = async () => null;
const gh: Run = async (argv) => {
  asked.push([...argv]);
  return { code: 0, stdout: "gho_fromgh\n" };
};
const github: TrackerSettings = { type: "github", repo: "o/r", baseUrl: null, tokenEnv: null };
const enterprise = { ...github, baseUrl: "https://github.example.invalid/api/v3" };

beforeEach(() => {
  configDir = mkdtempSync(join(tmpdir(), "hf-token-"));
  asked.length = 0;
});
afterEach(() => rmSync(configDir, { recursive: true, force: true }));

const find = async (settings: TrackerSettings, env: Record<string, string>, run: Run = noGh) =>
  await findToken(settings, { env, run, configDir });

test("[TRACKER-9] the variable that the settings name is the only place where one is named", async () => {
  const named = { ...github, tokenEnv: "MINE" };
  expect(await find(named, { MINE: " abc\n", GITHUB_TOKEN: "x" })).toEqual({
    found: true,
    value: "abc",
    from: "$MINE",
  });
  const missing = await find(named, { GITHUB_TOKEN: "x" }, gh);
  expect(missing).toMatchObject({ found: false, why: expect.stringContaining("MINE is not set") as string });
  expect(asked).toEqual([]);
});

test("[TRACKER-9] usual variables come first, then gh, then the file", async () => {
  writeFileSync(join(configDir, "github-token"), "ghp_file\n", { mode: 0o600 });
  expect(await find(github, { GITHUB_TOKEN: "a", GH_TOKEN: "b" }, gh)).toMatchObject({ value: "a" });
  expect(await find(github, { GITHUB_TOKEN: "", GH_TOKEN: "b" }, gh)).toMatchObject({ value: "b" });
  expect(await find(github, {}, gh)).toMatchObject({ value: "gho_fromgh" });
  expect(asked).toEqual([["gh", "auth", "token", "--hostname", "github.com"]]);
  expect(await find(github, {})).toMatchObject({ value: "ghp_file" });
  expect(await find({ ...github, type: "gitlab" }, { GITLAB_TOKEN: "g" })).toMatchObject({ value: "g" });
  expect(await find({ ...github, type: "linear" }, { LINEAR_API_KEY: "l" })).toMatchObject({ value: "l" });
});

test("[TRUST-8] S10: GH_ENTERPRISE_TOKEN goes only to hosts that the user's config binds; [TRACKER-9] what belongs to the public service is not used for another host", async () => {
  writeFileSync(join(configDir, "github-token"), "ghp_public", { mode: 0o600 });
  const env = { GITHUB_TOKEN: "public", GITLAB_TOKEN: "public", LINEAR_API_KEY: "public" };
  expect(await find(enterprise, env)).toMatchObject({ found: false });
  const gitlab: TrackerSettings = { ...github, type: "gitlab", baseUrl: "https://gitlab.example.invalid" };
  expect(await find(gitlab, env)).toMatchObject({ found: false });
  // A name that begins with "github." is what any stranger's remote may have.
  const withOwn = { ...env, GH_ENTERPRISE_TOKEN: "own", GITHUB_ENTERPRISE_TOKEN: "own" };
  expect(await find(enterprise, withOwn)).toMatchObject({ found: false });
  expect(await find({ ...enterprise, isBound: true }, withOwn)).toMatchObject({ value: "own" });
  await find(enterprise, env, gh);
  expect(asked).toEqual([["gh", "auth", "token", "--hostname", "github.example.invalid"]]);
  writeFileSync(join(configDir, "github-token-github.example.invalid"), "ghp_own", { mode: 0o600 });
  expect(await find(enterprise, env)).toMatchObject({ value: "ghp_own" });
});

test("[TRUST-8] S10: gh answers from its own store alone, never with a token variable of this machine", async () => {
  // As the real one: a variable counts for any host, the store only for its own.
  const lines = [
    "#!/bin/sh",
    'if [ "$4" = github.com ]; then found="${GH_TOKEN:-$GITHUB_TOKEN}"',
    'else found="${GH_ENTERPRISE_TOKEN:-$GITHUB_ENTERPRISE_TOKEN}"; fi',
    'if [ -z "$found" ] && [ "$4" = "$STORED" ]; then found=gho_stored; fi',
    '[ -n "$found" ] && echo "$found"',
  ];
  writeFileSync(join(configDir, "gh"), `${lines.join("\n")}\n`, { mode: 0o700 });
  const real: Run = (argv, options) => run([join(configDir, argv[0]!), ...argv.slice(1)], options);
  for (const variable of ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"]) {
    const env = { PATH: "/usr/bin:/bin", [variable]: "mine" };
    expect([variable, await find(enterprise, env, real)]).toMatchObject([variable, { found: false }]);
    const loggedIn = { ...env, STORED: "github.example.invalid" };
    expect(await find(enterprise, loggedIn, real)).toMatchObject({ value: "gho_stored", from: "`gh auth token`" });
  }
});

test("[TRACKER-9] a file that others can read is refused with the fix, and a token with a line break is none", async () => {
  const file = join(configDir, "github-token");
  writeFileSync(file, "ghp_file");
  chmodSync(file, 0o640);
  const open = await find(github, {});
  expect(open).toEqual({
    found: false,
    why: `The token in ${file} is readable by other users. Run \`chmod 600 ${file}\`.`,
  });
  chmodSync(file, 0o600);
  expect(await find(github, {})).toMatchObject({ value: "ghp_file" });
  const broken = await find(github, { GITHUB_TOKEN: "se\ncret" });
  expect(broken).toMatchObject({ found: false });
  expect(JSON.stringify(broken)).not.toContain("cret");
  const none = await find({ ...github, type: "gitlab" }, {});
  expect(none).toMatchObject({ why: expect.stringContaining("set GITLAB_TOKEN, or write one to") as string });
});
