/** OpenCode, seen with 1.18.33. A plugin of ours, named by environment beside the user's own, reports its activity. */
import type { AgentDefinition } from "../ports/agents.ts";
import { dialog, terminalDefaults } from "./defaults.ts";
import { hooksVariable, hookLinesName } from "./hook-script.ts";

export const opencodePlugin = `// Written by Holdfast.
import { appendFileSync } from "node:fs";

const lines = process.env.${hooksVariable} + "/${hookLinesName}";
const reported = new Set(["permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected"]);
const children = new Set();
let answering;
let message = "";

function report(event, data) {
  try {
    appendFileSync(lines, JSON.stringify({ event, at: Date.now(), data }) + "\\n");
  } catch {}
}

function take(event) {
  const { type, properties = {} } = event;
  const sessionID = properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID ?? properties.info?.id;
  if (properties.info?.parentID !== undefined && type.startsWith("session.")) children.add(sessionID);
  if (reported.has(type)) return report(type, { sessionID });
  if (sessionID === undefined || children.has(sessionID)) return;
  if (type === "message.updated" && properties.info?.role === "assistant") answering = properties.info.id;
  if (type === "message.part.updated" && properties.part?.type === "text" && properties.part.messageID === answering) {
    message = properties.part.text.slice(-1000);
  }
  if (type === "session.created") report(type, { sessionID });
  if (type !== "session.status") return;
  const status = properties.status?.type;
  report("session." + status, status === "idle" ? { sessionID, said: message } : { sessionID });
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
      report("prompt", { sessionID, text });
    } catch {}
  },
});
`;

const permission = "OpenCode asks for permission";
const id = { idField: "data.sessionID" };

export const opencode: AgentDefinition = {
  id: "opencode",
  label: "OpenCode",
  install: "Install it with `npm install -g opencode-ai`, then run `opencode auth login` once.",
  npm: "opencode-ai",
  version: ["opencode", "--version"],
  model: { terminal: ["-m", "{model}"], chat: { option: "model" } },
  env: {},
  // Its own service and model list, and the most common providers; users list others.
  hosts: [
    "opencode.ai",
    "models.dev",
    "api.anthropic.com",
    "api.openai.com",
    "generativelanguage.googleapis.com",
    "openrouter.ai",
  ],
  variables: {
    reads: ["OPENCODE_*", "OPENROUTER_*", "OLLAMA_HOST"],
    marks: [
      "OPENCODE_PID",
      "OPENCODE_RUN_ID",
      "OPENCODE_PROCESS_ROLE",
      "OPENCODE_CALLER",
      "OPENCODE_CLIENT",
      "OPENCODE_SERVER_*",
    ],
  },
  ownFolders: [
    { name: ".local/share/opencode", around: "XDG_DATA_HOME", share: ["auth.json"], copy: [] },
    { name: ".local/state/opencode", around: "XDG_STATE_HOME", share: [], copy: [] },
    { name: ".cache/opencode", around: "XDG_CACHE_HOME", share: [], copy: [] },
    { name: ".config/opencode", around: "XDG_CONFIG_HOME", share: [], copy: ["."] },
  ],
  terminal: {
    ...terminalDefaults,
    start: ["opencode"],
    resume: ["opencode", "--session", "{id}"],
    conversationId: "reported",
    files: [{ name: "opencode-plugin.js", text: opencodePlugin }],
    env: {
      [hooksVariable]: "{hooks}",
      OPENCODE_CONFIG_CONTENT: JSON.stringify({ plugin: ["file://{hooks}/opencode-plugin.js"] }),
    },
    hookRules: [
      { event: "session.created", activity: null, ...id },
      { event: "prompt", activity: "working", promptField: "data.text", ...id },
      { event: "session.busy", activity: "working", ...id },
      { event: "session.retry", activity: "working", ...id },
      { event: "session.idle", activity: "idle", messageField: "data.said", ...id },
      { event: "permission.asked", activity: "needs_input", reason: permission },
      { event: "permission.replied", activity: "working" },
      { event: "question.asked", activity: "needs_input", reason: "OpenCode asks a question" },
      { event: "question.replied", activity: "working" },
      { event: "question.rejected", activity: "working" },
    ],
    screenRules: [
      dialog(/\u25b3 Permission required/, permission),
      dialog(/Connect a provider/, "OpenCode has no provider yet: attach and connect one"),
      dialog(/A new release .* is available\. Would you like/, "OpenCode asks whether to update itself"),
      { where: "screen", pattern: /\besc (again to )?interrupt\b/, activity: "working" },
      { where: "screen", pattern: /\bctrl\+p commands\b/, activity: "idle" },
    ],
    conversationGone: [/Session not found/],
    interrupt: ["Escape", "Escape"],
    input: {
      // Consecutive lines with a bar: sent prompts, further up, have one too.
      line: /^ *\u2503((?:[^\n]*\n *\u2503)*?[^\n]*)\n[ \u2503]*\n *\u2503[^\n]*\u00b7[^\n]*\n *\u2579/gm,
      empty: /^[\s\u2503]*(Ask anything.*)?$/,
      // A resumed conversation has a column on the right.
      edge: /\u2579\u2580+/g,
      clear: "C-c",
    },
    // Its first response takes that long on a busy machine.
    confirmMs: 90_000,
  },
  chat: {
    command: ["opencode", "acp"],
    env: {},
    notFound: [{ code: -32_603, message: /OpenCode service failure.*"service":"session"/, confirm: "list" }],
    deleteCommand: ["opencode", "session", "delete", "{id}"],
  },
  handsOver: true,
};
