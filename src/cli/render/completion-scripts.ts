/** Shell scripts that ask `holdfast complete` for candidates: `word<TAB>description` a line, or `:files` / `:directories`. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell].trim();
}

const bash = `
_holdfast() {
  local IFS=$'\\n' line word
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]}
  # bash takes the = of --option=value for a word of its own
  [[ $current == = ]] && current=
  for line in $("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    case $line in
      :files) COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames ;;
      :directories) COMPREPLY=($(compgen -d -- "$current")); compopt -o filenames ;;
      *) word=\${line%%$'\\t'*}; [[ $word == "$current"* ]] && COMPREPLY+=("$word") ;;
    esac
  done
}
complete -F _holdfast holdfast hold
`;

const zsh = `
#compdef holdfast hold
_holdfast() {
  local line word text
  local -a candidates
  for line in "\${(@f)$("$words[1]" complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files ;;
      :directories) _files -/ ;;
      '') ;;
      *) word=\${line%%$'\\t'*}; text=\${line#*$'\\t'}; candidates+=("\${word//:/\\\\:}:$text") ;;
    esac
  done
  (( $#candidates )) && _describe holdfast candidates
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
                echo $line
        end
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
complete -c hold -f -a '(__holdfast_complete)'
`;
