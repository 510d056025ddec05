/** A chat session with a long history, written by the store itself; it does not run. */
import { join } from "node:path";
import type { FactEvent } from "../../src/contract/event.ts";
import { asProjectId, asPromptId, asSessionId } from "../../src/contract/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { stopped, type BenchHome } from "./home.ts";

/** Requires a home with its project. Returns the last text of the agent. */
export async function addLongChat(home: BenchHome, name: string, events: number): Promise<string> {
  const { paths } = home;
  const store = openStore({
    path: paths.database,
    backupsDirectory: paths.backups,
    reservePath: paths.reserve,
    now: Date.now,
  });
  const id = asSessionId(name);
  const workspacePath = join(paths.worktrees, "app", "app-1");
  const place = { branch: "app-1", branchCreated: false, base: "main" };
  try {
    await store.create(
      {
        type: "session.created",
        id,
        project: asProjectId("app"),
        kind: "chat",
        role: "worker",
        agent: "demo",
        title: "A long chat",
        issue: null,
        workspacePath,
        by: "person",
        ...place,
      },
      [{ type: "workspace.ready", path: workspacePath, ...place }],
    );
    await store.applyVerb(id, stopped);
    const turns = Math.ceil(events / perTurn);
    for (let from = 0; from < turns; from += 100) {
      const numbers = Array.from({ length: Math.min(100, turns - from) }, (_, n) => from + n);
      // oxlint-disable-next-line no-await-in-loop -- in their order
      await store.commit(id, () => numbers.flatMap(turn));
    }
    return lastWords(turns - 1);
  } finally {
    store.close();
  }
}

const perTurn = 10;

function turn(number: number): FactEvent[] {
  const promptId = asPromptId(`p${number}`);
  const toolCallId = `t${number}`;
  return [
    { type: "prompt.admitted", promptId, text: `Please do thing ${number}.`, by: "person" },
    { type: "prompt.sent", promptId, seenBy: "in" },
    { type: "turn.started", promptId },
    { type: "agent.thought", text: "What is asked, and what is there already? ".repeat(4) },
    {
      type: "tool.updated",
      toolCallId,
      title: "ls -l src",
      kind: "execute",
      status: "pending",
      rawInput: { command: "ls" },
    },
    { type: "tool.updated", toolCallId, status: "completed", rawOutput: { exitCode: 0, output: "a.ts\nb.ts\n" } },
    { type: "agent.text", text: `## Step ${number}\n\nSome **words** with \`code\` and a list:\n\n- one\n- two\n\n` },
    { type: "agent.text", text: `\`\`\`ts\nconst answer = ${number};\n\`\`\`\n\n` },
    { type: "agent.text", text: lastWords(number) },
    { type: "turn.ended", stopReason: "end_turn", promptId },
  ];
}

function lastWords(number: number): string {
  return `That was thing ${number}.`;
}
