/** The config of our own tmux server. Read once, when the server starts; nothing of the person's config is read. */

/** Fires on every death and every closed session, so that one waiting call replaces polling. */
export const hintChannel = "holdfast-hint";

/** Lines a pane keeps for scrolling back; some 10 MB at most for a busy agent. */
const historyLines = 20_000;

/** What panes are, as TERM says it. */
export const defaultTerminal = "tmux-256color";

export function tmuxConfig(socketName: string): string {
  return [
    `# Written by Holdfast for its own tmux server (socket ${socketName}). Changes are overwritten.`,
    `set -g history-limit ${historyLines}`,
    // A dead agent's pane stays until its exit status and last lines are recorded.
    "set -g remain-on-exit on",
    "set -gq remain-on-exit-format ''",
    // The server goes with its last session, so that nothing is left behind.
    "set -g exit-empty on",
    "set -g exit-unattached off",
    "set -g destroy-unattached off",
    "set -g detach-on-destroy on",
    `set -g default-terminal ${defaultTerminal}`,
    "set -ga terminal-features ',*:RGB'",
    "set -g escape-time 10",
    // Keys mean the same however quickly they come; a paste is bracketed.
    "set -g assume-paste-time 0",
    "set -g status off",
    "set -g mouse on",
    "set -g focus-events on",
    "set -g window-size latest",
    "set -g set-titles off",
    "set -g automatic-rename off",
    "set -g allow-rename off",
    // What an agent prints must not reach the person's clipboard or outer terminal.
    "set -g set-clipboard off",
    "set -gq allow-passthrough off",
    // Its menu would let a click end or restart the agent's pane.
    "unbind-key -qn MouseDown3Pane",
    "unbind-key -qn M-MouseDown3Pane",
    // A viewer's environment is not the agent's.
    "set -g update-environment ''",
    "set -g monitor-activity off",
    "set -g visual-activity off",
    "set -g bell-action none",
    `set-hook -g pane-died 'wait-for -S ${hintChannel}'`,
    `set-hook -g session-closed 'wait-for -S ${hintChannel}'`,
    "",
  ].join("\n");
}
