/**
 * The hook that agents run: `hook.sh <event>` with the agent's JSON on stdin. It appends one line to `hooks.jsonl`
 * next to itself, prints `{}` and never fails, because an agent would delay its turn or show the failure.
 */

/** Next to the script; the terminal runtime reads it. */
export const hookLinesName = "hooks.jsonl";

/** Names the launch's hook directory to commands, so that their text is the same in every launch and needs no quoting. */
export const hooksVariable = "HOLDFAST_HOOKS";

/** The shell command that an agent runs at an event. Its text never changes: Codex would ask for trust again. */
export function hookCommand(event: string): string {
  return `"$${hooksVariable}/hook.sh" ${event}`;
}

export const hookScript = `#!/bin/sh
# Written by Holdfast. usage: hook.sh <event>, with the agent's JSON on stdin.
printf '{}\\n'
exec 2>/dev/null
case \${1-} in '' | *[!A-Za-z.]*) exit 0 ;; esac
directory=\${0%/*}
# Control characters stand only between the tokens of JSON, so blanks in their place keep its meaning and make one line.
data=$(LC_ALL=C tr '\\000-\\037' ' ')
case $data in
  '{'*'}' | '{'*'} '* | ' '*'{'*'}'*) ;;
  *) data=null ;;
esac
line=$directory/.line.$$
# A contained agent may append to the file there and write nothing else.
[ -w "$directory" ] || line=\${TMPDIR:-/tmp}/.holdfast-line.$$
printf '{"event":"%s","at":%s000,"data":%s}\\n' "$1" "$(date +%s)" "$data" >"$line" &&
  # One read and one write: several hooks append at once, and only a single write stays intact.
  dd if="$line" bs=16777216 >>"$directory/${hookLinesName}"
rm -f "$line"
exit 0
`;

export const hookScriptFile = { name: "hook.sh", text: hookScript, executable: true };
