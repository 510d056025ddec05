import { HoldfastError } from "../../../contract/errors.ts";
import type { Kind } from "../../../contract/ids.ts";
import { isTerminated } from "../../../model/board.ts";
import type { SessionJson } from "../../../contract/session.ts";
import type { Context } from "../../context.ts";
import { demoProject, makeDemoProject } from "./project.ts";
import { type CommandEntry } from "../../command.ts";
import { requestLoginLink, openBrowser } from "../device/dashboard.ts";
import { clean } from "../../render/text.ts";
import type { SpawnRequest } from "../../../contract/spawn.ts";

interface DemoSession {
  kind: Kind;
  title: string;
  prompt: string;
}

/** Each line of a prompt is a step that the demo agent carries out. */
const demoSessions: readonly DemoSession[] = [
  {
    kind: "terminal",
    title: "Terminal: the agent's own screen, in tmux",
    prompt: [
      "say: Hello. I am the demo agent, in my own terminal and my own worktree.",
      "slow: 2",
      "say: I keep running when you close this window, stop the daemon, or update it.",
      "say: Type a line to talk to me. `ask: may I?` makes me ask, `slow: 60` keeps me busy.",
    ].join("\n"),
  },
  {
    kind: "chat",
    title: "Chat: structured, with a permission request",
    prompt: [
      "plan: Look around, Write a note, Ask you",
      "think: A short tour: a tool call, a file change, and a permission request.",
      "tool: ls -l",
      "edit: notes.md Written by the demo agent, in its own worktree.",
      "say: I have looked around and written `notes.md`; the request below waits for you, even across a restart.",
      "ask: May I finish the tour?",
      "say: Thank you. `/help` lists what else a prompt can ask of me.",
    ].join("\n"),
  },
];

function demoRequest({ kind, title, prompt }: DemoSession): SpawnRequest {
  return { project: demoProject, agent: "demo", kind, name: title, prompt };
}

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "Only print the link to the dashboard" }],
  examples: [
    ["start two sessions and open the dashboard", "holdfast demo"],
    ["only print the link", "holdfast demo --no-open"],
  ],
  notes:
    "Requires no account and no network: creates a scratch project in Holdfast's own directory, with the bundled demo agent\nas a terminal session and a chat session. Existing demo sessions are left alone.\nTo remove it: holdfast session delete, then holdfast project rm demo.",
  async run(context, input) {
    // The first call starts the daemon, which creates the home.
    const before = (await context.call("sessions")).filter(isOurs);
    const { path, made } = makeDemoProject(context.paths.home, context.env);
    await context.call("projectAdd", { body: { path } });
    context.out(made ? `Created a scratch project: ${path}` : `The demo project already exists: ${path}`);
    const there: SessionJson[] = [];
    for (const planned of demoSessions) there.push(...(await provide(context, planned, before)));
    const opens = !input.flag("no-open");
    const { url, file } = await requestLoginLink(context, opens);
    context.out("Dashboard (the link works once, for one browser, within a minute):");
    context.out(url);
    if (opens && !(await openBrowser(file, context.env)))
      context.err("Cannot open a browser here; open the link yourself.");
    context.print({ project: demoProject, path, sessions: there, url }, null);
    return there.length > 0 ? 0 : 1;
  },
};

function isOurs(session: SessionJson): boolean {
  return session.project === demoProject && session.agent === "demo" && !isTerminated(session.status);
}

/** Keeps or starts one of the sessions. If it cannot start, the other one still does. */
async function provide(context: Context, planned: DemoSession, before: readonly SessionJson[]): Promise<SessionJson[]> {
  const found = before.filter(({ kind }) => kind === planned.kind);
  for (const session of found) context.out(`Session ${session.id} already exists [${session.status}].`);
  if (found.length > 0) {
    context.out(attachLine(found[0]!));
    return found;
  }
  try {
    const session = await context.call("spawn", { body: demoRequest(planned) });
    context.out(`Session ${session.id} is running. ${clean(session.title)}.`);
    context.out(attachLine(session));
    return [session];
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code === "unreachable") throw error;
    context.err(`Cannot start the ${planned.kind} session: ${error.message}`);
    if (error.hint !== null) context.err(error.hint);
    return [];
  }
}

function attachLine({ id }: SessionJson): string {
  return `  Attach: holdfast attach ${id}`;
}
