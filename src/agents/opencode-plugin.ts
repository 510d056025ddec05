/**
 * The plugin that OpenCode loads: each event that tells activity becomes one line of `hooks.jsonl`. Sub-agents are
 * sessions of their own with a parent; only the conversation that the person sees counts. Nothing here may throw.
 */
import { hookLinesName, hooksVariable } from "./hook-script.ts";

export const opencodePlugin = `// Written by Holdfast.
import { appendFileSync } from "node:fs";

const lines = process.env.${hooksVariable} + "/${hookLinesName}";
const told = new Set(["permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected"]);
const children = new Set();
let answering;
let said = "";

function tell(event, data) {
  try {
    appendFileSync(lines, JSON.stringify({ event, at: Date.now(), data }) + "\\n");
  } catch {}
}

function take(event) {
  const { type, properties = {} } = event;
  const sessionID = properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID ?? properties.info?.id;
  if (properties.info?.parentID !== undefined && type.startsWith("session.")) children.add(sessionID);
  if (told.has(type)) return tell(type, { sessionID });
  if (sessionID === undefined || children.has(sessionID)) return;
  if (type === "message.updated" && properties.info?.role === "assistant") answering = properties.info.id;
  if (type === "message.part.updated" && properties.part?.type === "text" && properties.part.messageID === answering) {
    said = properties.part.text.slice(-1000);
  }
  if (type === "session.created") tell(type, { sessionID });
  if (type !== "session.status") return;
  const status = properties.status?.type;
  tell("session." + status, status === "idle" ? { sessionID, said } : { sessionID });
}

export const Holdfast = async () => ({
  event: async ({ event }) => {
    try {
      take(event);
    } catch {}
  },
  "chat.message": async ({ sessionID }, { parts }) => {
    try {
      if (children.has(sessionID)) return;
      const text = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\\n");
      tell("prompt", { sessionID, text });
    } catch {}
  },
});
`;
