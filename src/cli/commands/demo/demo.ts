import { HoldfastError } from "../../../contract/error.ts";
import { isTerminated } from "../../../model/session.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import { demoProject, makeDemoProject } from "./project.ts";
import { demoRequest, type DemoSession, demoSessions } from "./sessions.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { askLoginLink } from "../device/login-link.ts";
import { openBrowser } from "../device/open-browser.ts";
import { clean } from "../../render/text.ts";

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
