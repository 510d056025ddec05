/**
 * What runs in a pane first: a few lines of POSIX sh that read the launch's private file and then *become* the agent,
 * so that the pane's process is the agent itself and tmux knows its exit code and signal exactly. Arguments and
 * environment go through a 0600 file: in argv anybody could read them, and they would break at 16 KB inside tmux.
 */
export const starterText = `#!/bin/sh
# Written by Holdfast. usage: starter.sh <launch directory>
set -u
# The agent's own tmux commands must not reach the server that holds it.
unset TMUX TMUX_PANE
holdfast_workspace=/
holdfast_cgroup=
holdfast_launch_directory=$1
# Sets holdfast_workspace and holdfast_cgroup, exports the environment, and makes the agent's argv the arguments.
# shellcheck disable=SC1091
. "$holdfast_launch_directory/run"
# Emptied once read: a sign that the launch got this far, and nothing secret stays on disk.
: >"$holdfast_launch_directory/run"
# All that the agent starts stays in this cgroup; without it the agent runs all the same.
[ -z "$holdfast_cgroup" ] || { echo 0 >"$holdfast_cgroup"; } 2>/dev/null || :
cd -- "$holdfast_workspace" || exit 126
unset OLDPWD holdfast_launch_directory holdfast_workspace holdfast_cgroup
exec "$@"
`;

export interface RunFile {
  /** As `umask` takes it; null to leave the server's. */
  umask: string | null;
  workspace: string;
  /** The file that moves who writes `0` to it into the launch's cgroup; null where there is none. */
  cgroup: string | null;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Some shells refuse to assign these, and would end the launch over it. */
const shellOwned = new Set(["UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "IFS", "_"]);

/** The file that the starter reads: only assignments, `umask` and one `set --`, every value in single quotes. */
export function runFileText(run: RunFile): string {
  const lines = [`holdfast_workspace=${quote(run.workspace)}`];
  if (run.cgroup !== null) lines.push(`holdfast_cgroup=${quote(run.cgroup)}`);
  // The server keeps that of the daemon which started it.
  if (run.umask !== null) lines.push(`umask ${run.umask}`);
  for (const [name, value] of Object.entries(run.env)) {
    // sh cannot export other names; agents do not use them.
    if (variableName.test(name) && !shellOwned.has(name)) lines.push(`export ${name}=${quote(value)}`);
  }
  lines.push(`set -- ${run.argv.map(quote).join(" ")}`, "");
  return lines.join("\n");
}

/** Inside single quotes sh reads nothing but the closing quote. A NUL cannot be passed to any program. */
function quote(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}
