/**
 * One launch's files inside its container: the environment, the agent's hook files and the script that starts it. They are
 * in a folder that is mounted when the container is made, so it exists before any launch. Secrets travel in a file: the
 * command line of `devcontainer exec` can be read by every user of the machine.
 */
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContainRequest } from "../../ports/contain.ts";
import { containedEnvironment } from "../environment.ts";

/** Where the folder is inside; nothing else is mounted below it. */
export const insideFolder = "/run/holdfast-launch";
const starter = "start.sh";
const hookLines = "hooks.jsonl";

const starterText = `#!/bin/sh
# Written by Holdfast. usage: start.sh LAUNCH COMMAND...
. "\${0%/*}/$1/env" || exit 126
shift
exec "$@"
`;

/** Names places outside, whoever set it: the container has its own. */
const always = /^(PATH|HOME|USER|SHELL|TMPDIR)$/;
/** The same, unless it was set on purpose. */
const outside =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|TMPDIR|XDG_.*|SSL_CERT_.*|NODE_EXTRA_CA_CERTS|.*_PROXY|CLAUDE_CONFIG_DIR|CODEX_HOME|JAVA_HOME|ANDROID_HOME|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|VIRTUAL_ENV|PYENV_ROOT|NVM_DIR|FNM_DIR|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|SDKMAN_DIR|GIT_.*|HOLDFAST_SOCKET|HOLDFAST_TEST_RUN)$/i;

/** Returns the agent's command as it is inside. Nothing may run in the container meanwhile. */
export function writeLaunch(shared: string, request: ContainRequest): string[] {
  const { launch, directory, files, hooks, argv } = request;
  const [folder, inside] = [join(shared, launch), `${insideFolder}/${launch}`];
  // Of earlier launches: nothing reads them anymore.
  for (const name of readdirSync(shared)) rmSync(join(shared, name), { recursive: true, force: true });
  // Never through a link: the agent of an earlier launch could write here.
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(shared, starter), starterText, { mode: 0o755, flag: "wx" });
  for (const name of files)
    if (existsSync(join(directory, name)))
      copyFileSync(join(directory, name), join(folder, name), constants.COPYFILE_EXCL);
  if (hooks) shareLines(join(directory, hookLines), join(folder, hookLines));
  const there = (text: string): string => text.replaceAll(directory, inside);
  writeFileSync(join(folder, "env"), environmentText(request, there), { mode: 0o600, flag: "wx" });
  return ["/bin/sh", `${insideFolder}/${starter}`, launch, ...argv.map(there)];
}

/** One file with two names: whatever the agent does to its own name, the daemon keeps reading that file. */
function shareLines(ours: string, theirs: string): void {
  writeFileSync(ours, "", { flag: "a", mode: 0o600 });
  linkSync(ours, theirs);
}

function environmentText({ env, given }: ContainRequest, there: (text: string) => string): string {
  const set = new Set(given);
  const inner = Object.entries(containedEnvironment(env, given)).filter(
    ([name]) => !always.test(name) && (set.has(name) || !outside.test(name)) && /^[A-Za-z_]\w*$/.test(name),
  );
  return inner.map(([name, value]) => `export ${name}='${there(value).replaceAll("'", "'\\''")}'\n`).join("");
}
