/** Commands on chat agents' processes and their current turn. */
import { HoldfastError } from "../../../contract/errors.ts";
import type { SessionJson } from "../../../contract/session.ts";
import type { WorkerJson } from "../../../contract/chat.ts";
import { chatArgument, type CommandEntry, countOption, noWaitOption } from "../../command.ts";
import { clean, inert, table } from "../../render/text.ts";
import { formatAgeOf } from "../../../model/duration.ts";
import { sortedNaturally } from "../../../model/text.ts";
import { stopLabel } from "../../../model/transcript/item-text.ts";
import { hasProcesses } from "../daemon/stop.ts";
import { operationCommand } from "../operation.ts";
import { chosenSessions, runVerb } from "../session/verb.ts";

export const ps = operationCommand("workers", {
  examples: [["list running chat agents", "holdfast acp ps"]],
  notes:
    "BUILD shows (stale) if a newer agent or keeper is installed; the agent is replaced when it is next idle.\nDETACHED is yes if the agent runs without its keeper; this is harmless.",
  request: () => ({}),
  print: (agents, { now }) => agentLines(agents, now()).join("\n"),
});

const head = ["PID", "SESSION", "AGENT", "STATE", "BUILD", "DETACHED", "UPTIME"];

function agentLines(agents: readonly WorkerJson[], now: number): string[] {
  if (agents.length === 0) return ["No chat agent is running."];
  const rows = sortedNaturally(agents, ({ session }) => session).map((agent) => [
    agent.pid === null ? "-" : String(agent.pid),
    clean(agent.session),
    clean(agent.agent),
    clean(agent.state),
    `${clean(agent.build)}${agent.stale ? " (stale)" : ""}`.trim(),
    agent.detached ? "yes" : "no",
    formatAgeOf(agent.startedAt, now),
  ]);
  return table([head, ...rows]);
}

export const stop: CommandEntry = {
  arguments: [{ ...chatArgument, optional: true }],
  options: [{ long: "all", description: "Stop every running chat session" }, noWaitOption],
  examples: [
    ["stop one gracefully", "holdfast acp stop ma-12"],
    ["stop all chat agents", "holdfast acp stop --all"],
  ],
  notes:
    "Same as holdfast session stop: keeps the worktree and conversation. The next prompt or holdfast session restore\nstarts it again.",
  async run(context, input) {
    const isRunningChat = (one: SessionJson): boolean => one.kind === "chat" && hasProcesses(one);
    const ids = await chosenSessions(input, () => context.call("sessions"), isRunningChat);
    if (ids === null) throw new HoldfastError("usage", "Specify either a session or --all.");
    if (ids.length === 0) context.out("No chat agent is running.");
    return runVerb(context, input, { operation: "stop", done: "stopped", ids });
  },
};

export const cancel = operationCommand("cancel", {
  arguments: [chatArgument],
  examples: [["cancel the current turn", "holdfast acp cancel ma-12"]],
  notes: "Waits for the agent to end the turn; exits 1 if it does not. The session keeps running.",
  fails: "cancel the turn of",
  request: (input) => ({ params: { id: input.arg(0) }, body: {} }),
  print({ cancelled, stopReason, reason }) {
    if (!cancelled) return clean(reason ?? "The turn was not cancelled.");
    if (stopReason === null || stopReason === "cancelled") return "Turn cancelled.";
    return stopReason === "end_turn" ? "Turn finished." : `Turn ended: ${clean(stopLabel(stopReason))}.`;
  },
  hasFailed: ({ cancelled }) => !cancelled,
});

const defaultLines = 100;

export const logs = operationCommand("acpLogs", {
  arguments: [chatArgument],
  options: [
    {
      long: "lines",
      short: "n",
      value: "number",
      description: `Number of lines (default: ${defaultLines})`,
    },
  ],
  examples: [["find out why it does not start", "holdfast acp logs ma-12 -n 20"]],
  notes: "Shows the agent's stderr. For the conversation, use holdfast acp history.",
  fails: "show the agent's log of",
  request: (input) => ({
    params: { id: input.arg(0) },
    query: { lines: countOption(input, "lines", "-n", defaultLines) },
  }),
  print: ({ lines }) => (lines.length === 0 ? null : lines.map(inert).join("\n")),
});

export const primer = operationCommand("primer", {
  arguments: [chatArgument],
  options: [{ long: "before-seq", value: "seq", description: "Only turns before this event" }],
  examples: [
    ["recap recent turns", "holdfast acp primer ma-12"],
    ["recap the turns before a context reset", "holdfast acp primer ma-12 --before-seq 340"],
  ],
  notes: "Markdown, for an agent that lost its conversation. It is never sent automatically.",
  fails: "recap",
  request(input) {
    const before = input.text("before-seq");
    if (before !== undefined && !/^\d{1,15}$/.test(before)) {
      throw new HoldfastError("usage", `--before-seq must be an integer, not ${before}.`);
    }
    return { params: { id: input.arg(0) }, ...(before === undefined ? {} : { query: { before_seq: before } }) };
  },
  print: ({ markdown }) => inert(markdown).trimEnd(),
});
