import { HoldfastError } from "../../../contract/error.ts";
import { isTerminated, type Kind } from "../../../model/session.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import { demoProject, makeDemoProject } from "./project.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { askLoginLink, openBrowser } from "../device/dashboard.ts";
import { clean } from "../../render/text.ts";
import type { SpawnRequest } from "../../../contract/command.ts";

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
      "say: Hello. I am the demo agent, in a terminal of my own and a worktree of my own.",
      "slow: 2",
      "say: I keep running when you close this window, stop the daemon, or update it.",
      "say: Type a line to talk to me. `ask: may I?` makes me ask, `slow: 60` keeps me busy.",
    ].join("\n"),
  },
  {
    kind: "chat",
    title: "Chat: structured, with a question for you",
    prompt: [
      "plan: Look around, Write a note, Ask you",
      "think: A short tour: a tool call, a change to a file, and a question.",
      "tool: ls -l",
      "edit: notes.md Written by the demo agent, in a worktree of its own.",
      "say: I have looked around and written `notes.md`; the question below waits for you, also through a restart.",
      "ask: May I finish the tour?",
      "say: Thank you. `/help` lists what else a prompt can ask of me.",
    ].join("\n"),
  },
];

function demoRequest({ kind, title, prompt }: DemoSession): SpawnRequest {
  return { project: demoProject, agent: "demo", kind, name: title, prompt };
}

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "only print the link to the dashboard" }, jsonOption],
  examples: [
    ["two sessions to look at, and the dashboard", "holdfast demo"],
    ["only print the link", "holdfast demo --no-open"],
  ],
  notes:
    "Needs no account and no network: a scratch project in Holdfast's own directory, and the bundled demo agent as a\nterminal session and as a chat session. What is there already stays as it is.\n`holdfast session delete` and `holdfast project rm demo` take it away again.",
  daemon: "starts",
  async run(shown, input) {
    const json = input.flag("json");
    const context: Context = json ? { ...shown, out: () => undefined } : shown;
    // The first question starts the daemon, which makes the home.
    const before = (await context.call("sessions")).filter(isOurs);
    const { path, made } = makeDemoProject(context.paths.home, context.env);
    await context.call("projectAdd", { body: { path } });
    context.out(made ? `Made a scratch project: ${path}` : `The demo project is there already: ${path}`);
    const there: SessionJson[] = [];
    for (const wanted of demoSessions) there.push(...(await provide(context, wanted, before)));
    const opens = !input.flag("no-open");
    const { url, file } = await askLoginLink(context, opens);
    context.out("Dashboard (this link logs one browser in, within a minute):");
    context.out(url);
    if (opens && !(await openBrowser(file, context.env)))
      context.err("No browser could be opened here; open the link yourself.");
    if (json) context.json({ project: demoProject, path, sessions: there, url });
    return there.length > 0 ? 0 : 1;
  },
};

function isOurs(session: SessionJson): boolean {
  return session.project === demoProject && session.agent === "demo" && !isTerminated(session.status);
}

/** One of the sessions, kept or started. One that cannot start is no reason to do without the other. */
async function provide(context: Context, wanted: DemoSession, before: readonly SessionJson[]): Promise<SessionJson[]> {
  const found = before.filter(({ kind }) => kind === wanted.kind);
  for (const session of found) context.out(`Session ${session.id} is there already [${session.status}].`);
  if (found.length > 0) {
    context.out(attachLine(found[0]!));
    return found;
  }
  try {
    const session = await context.call("spawn", { body: demoRequest(wanted) });
    context.out(`Session ${session.id} is running. ${clean(session.title)}.`);
    context.out(attachLine(session));
    return [session];
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code === "unreachable") throw error;
    context.err(`The ${wanted.kind} session could not be started: ${error.message}`);
    if (error.hint !== null) context.err(error.hint);
    return [];
  }
}

function attachLine({ id }: SessionJson): string {
  return `  Attach: holdfast attach ${id}`;
}
