import { type CommandEntry } from "../entry-types.ts";
import { completionScript, shells, type Shell } from "../render/completion-scripts.ts";

export const command: CommandEntry = {
  arguments: [{ name: "shell", description: "bash, zsh or fish", choices: shells }],
  examples: [
    ["for bash, in ~/.bashrc", 'eval "$(holdfast completion bash)"'],
    ["for zsh, in ~/.zshrc", 'eval "$(holdfast completion zsh)"'],
    ["for fish", "holdfast completion fish > ~/.config/fish/completions/holdfast.fish"],
  ],
  notes: "Session and project names are asked from the daemon if it runs; it is never started for that.",
  daemon: "alone",
  async run(context, input) {
    context.out(completionScript(input.arg(0) as Shell));
  },
};
