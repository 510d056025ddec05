/** The scratch project of `holdfast demo`: its own repository below the home, with one commit. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, messageOf } from "../../../contract/errors.ts";

export const demoProject = "demo";

export function demoDirectory(home: string): string {
  return join(home, "demo", "demo-app");
}

/** Creates it if it does not exist, in a temporary directory that is then renamed, so that it is never incomplete. */
export function makeDemoProject(home: string, env: NodeJS.ProcessEnv): { path: string; made: boolean } {
  const path = demoDirectory(home);
  if (existsSync(path)) return { path, made: false };
  const parent = join(home, "demo");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const draft = mkdtempSync(join(parent, ".making-"));
  try {
    for (const [name, text, mode] of files) writeFileSync(join(draft, name), text, { mode });
    commitAll(draft, env);
    renameSync(draft, path);
    return { path, made: true };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Two at once: the other one's is as good as ours.
    if (existsSync(path)) return { path, made: false };
    throw error;
  }
}

const files: readonly (readonly [name: string, text: string, mode: number])[] = [
  ["README.md", "# demo-app\n\nA scratch project for trying Holdfast. Nothing in it matters.\n", 0o644],
  ["greet.sh", '#!/bin/sh\necho "Hello, ${1:-world}!"\n', 0o755],
  [
    "holdfast.yaml",
    `# The project of \`holdfast demo\`.
projects:
  ${demoProject}:
    path: .
    prefix: ${demoProject}
    defaultBranch: main
    agent: demo
`,
    0o644,
  ],
];

/** Ignores the user's git settings (signing, templates, hooks) and any surrounding repository. */
function commitAll(directory: string, env: NodeJS.ProcessEnv): void {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("GIT_")));
  const quiet = { ...own, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const identity = ["-c", "user.name=Holdfast demo", "-c", "user.email=demo@localhost"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main", "--template="],
    ["add", "--all"],
    [...identity, "commit", "--quiet", "--message=A project to try things on"],
  ]) {
    try {
      execFileSync("git", args, { cwd: directory, env: quiet, stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      const why = String((error as { stderr?: Buffer }).stderr ?? "").trim();
      throw new HoldfastError("preflight-failed", `git could not make the demo project: ${why || messageOf(error)}`, {
        hint: "See what is missing: holdfast doctor",
        cause: error,
      });
    }
  }
}
