/** Entry of the bundled demo agent, dist/demo-agent.cjs. */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { conversationsDirectory, DemoConversation } from "./conversation.ts";
import { DemoTerminal } from "./terminal.ts";

/** Of the agent's own behaviour, not of Holdfast. */
const version = "1";

const { values } = parseArgs({
  options: {
    "session-id": { type: "string" },
    resume: { type: "string" },
    prompt: { type: "string" },
    version: { type: "boolean", default: false },
  },
});

if (values.version) console.log(`holdfast demo agent ${version}`);
else start(values.resume, values["session-id"], values.prompt);

function start(resume: string | undefined, chosen: string | undefined, prompt: string | undefined): void {
  const directory = conversationsDirectory(process.env);
  const id = resume ?? chosen ?? randomUUID();
  const conversation =
    resume === undefined ? DemoConversation.create(directory, id) : DemoConversation.resume(directory, id);
  if (conversation !== null) {
    new DemoTerminal(conversation).start(resume !== undefined, prompt);
    return;
  }
  console.error(resume === undefined ? `demo: conversation ${id} exists already` : `demo: no conversation ${id}`);
  process.exitCode = 1;
}
