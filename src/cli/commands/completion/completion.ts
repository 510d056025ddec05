import { type CommandEntry } from "../../command.ts";

/**
 * Shell scripts that ask `holdfast complete` for candidates: `word<TAB>description` per line, or `:files` / `:directories`.
 * A candidate may come from an agent, a repository or a tracker, so each shell inserts it as one quoted word: bash with
 * `printf %q`, zsh with compadd, fish with its own escaping.
 */
const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell].trim();
}

const bash = `
_holdfast() {
  local line word quoted
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]}
  # bash passes the = of --option=value as a separate word
  [[ $current == = ]] && current=
  while IFS= read -r line; do
    case $line in
      :files) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current"); compopt -o filenames ;;
      :directories) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current"); compopt -o filenames ;;
      *)
        word=\${line%%$'\\t'*}
        printf -v quoted %q "$word"
        if [[ $word == "$current"* || $quoted == "$current"* ]]; then COMPREPLY+=("$quoted"); fi
        ;;
    esac
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdfast holdfast hold
`;

const zsh = `
#compdef holdfast hold
_holdfast() {
  local line word text
  local -a found shown
  for line in "\${(@f)$("$words[1]" complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files ;;
      :directories) _files -/ ;;
      '') ;;
      *) word=\${line%%$'\\t'*}; text=\${line#*$'\\t'}; found+=("$word"); shown+=("$word  $text") ;;
    esac
  done
  # compadd quotes candidates and parses no descriptions in them
  (( $#found )) && compadd -l -d shown -a -- found
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _holdfast holdfast hold
`;

const fish = `
function __holdfast_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':directories'
                __fish_complete_directories (commandline -ct)
            case '*'
                # fish escapes a candidate that it inserts
                printf '%s\\n' $line
        end
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
complete -c hold -f -a '(__holdfast_complete)'
`;

export const command: CommandEntry = {
  arguments: [{ name: "shell", description: "Shell", choices: shells }],
  examples: [
    ["for bash, in ~/.bashrc", 'eval "$(holdfast completion bash)"'],
    ["for zsh, in ~/.zshrc", 'eval "$(holdfast completion zsh)"'],
    [
      "for fish, which loads one file per command name",
      "holdfast completion fish | tee ~/.config/fish/completions/{holdfast,hold}.fish > /dev/null",
    ],
  ],
  notes:
    "In ~/.zshrc, put the line after `autoload -Uz compinit && compinit` if you have that. Completes session,\nproject and agent names when the daemon is running; never starts it.",
  daemon: "alone",
  json: false,
  async run(context, input) {
    context.out(completionScript(input.arg(0) as Shell));
  },
};
