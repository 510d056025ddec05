import { type CommandEntry } from "../../command.ts";
import { completionScript, shells, type Shell } from "./scripts.ts";

export const command: CommandEntry = {
  arguments: [{ name: "shell", description: "bash, zsh or fish", choices: shells }],
  examples: [
    ["for bash, in ~/.bashrc", 'eval "$(holdfast completion bash)"'],
    ["for zsh, in ~/.zshrc", 'eval "$(holdfast completion zsh)"'],
    [
      "for fish, which loads one file per command name",
      "holdfast completion fish | tee ~/.config/fish/completions/{holdfast,hold}.fish > /dev/null",
    ],
  ],
  notes:
    "In ~/.zshrc, put the line behind `autoload -Uz compinit && compinit` if you have that. Names of sessions, projects and\nagents come from the daemon if it is running; completion never starts it.",
  daemon: "alone",
  async run(context, input) {
    context.out(completionScript(input.arg(0) as Shell));
  },
};
