/** Shared by the misbehaving agents: lines in, lines out, and the responses of a well-behaved agent. */
export type Message = { id?: string | number; method?: string; params?: Record<string, unknown>; result?: unknown };
type Answer = (message: Message) => void;

/** Handles requests and notifications. `misbehave` overrides some methods; an override responds itself. */
export function serve(misbehave: Record<string, Answer> = {}, atEndOfInput = (): void => process.exit(0)): void {
  let held = "";
  process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (held + chunk).split("\n");
    held = lines.pop() ?? "";
    for (const line of lines) hear(JSON.parse(line) as Message, misbehave);
  });
  process.stdin.on("end", atEndOfInput);
}

export function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

export function answer(message: Message, result: object): void {
  write({ id: message.id, result });
}

export function refuse(message: Message, code: number, text: string): void {
  write({ id: message.id, error: { code, message: text } });
}

/** A chunk of the agent's message, in the session that the message concerns. */
export function say(message: Message, text: string): void {
  update(message, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
}

export function update(message: Message, update: object): void {
  write({ method: "session/update", params: { sessionId: message.params?.["sessionId"], update } });
}

export function promptText(message: Message): string {
  const blocks = (message.params?.["prompt"] ?? []) as { type: string; text?: string }[];
  return blocks.map(({ text }) => text ?? "").join("\n");
}

const wellBehaved: Record<string, Answer> = {
  initialize: (message) =>
    answer(message, { protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  "session/new": (message) => answer(message, { sessionId: `s-${process.pid}` }),
  "session/load": (message) => answer(message, {}),
  "session/prompt": (message) => {
    say(message, `you said: ${promptText(message)}`);
    answer(message, { stopReason: "end_turn" });
  },
};

function hear(message: Message, misbehave: Record<string, Answer>): void {
  if (message.method === undefined) return misbehave["(answer)"]?.(message);
  const known = misbehave[message.method] ?? wellBehaved[message.method];
  if (known !== undefined) known(message);
  else if (message.id !== undefined) refuse(message, -32601, "Method not found");
}
