/** Writes a reply of the Responses API: a list of output items, each opened, streamed and closed by its own events. */
import type { Conversation, ReplyWriter, Send, ToolCall } from "../conversation.ts";
import { newId } from "../ids.ts";
import type { Json } from "../json.ts";

type Kind = "text" | "thinking";

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20,
};

export class ResponseItems implements ReplyWriter {
  readonly #model: string;
  readonly #send: Send;
  readonly #id = newId("resp_");
  readonly #output: Json[] = [];
  #open: { kind: Kind; id: string; text: string } | undefined;
  #sequence = 0;

  constructor(conversation: Conversation, send: Send) {
    this.#model = conversation.model;
    this.#send = send;
  }

  begin(): void {
    this.#emit({ type: "response.created", response: this.#response("in_progress") });
    this.#emit({ type: "response.in_progress", response: this.#response("in_progress") });
  }

  thinking(chunk: string): void {
    const item = this.#openAs("thinking");
    item.text += chunk;
    this.#emit({
      type: "response.reasoning_summary_text.delta",
      ...this.#position(item.id),
      summary_index: 0,
      delta: chunk,
    });
  }

  text(chunk: string): void {
    const item = this.#openAs("text");
    item.text += chunk;
    this.#emit({ type: "response.output_text.delta", ...this.#position(item.id), content_index: 0, delta: chunk });
  }

  toolCall(call: ToolCall): void {
    this.#close();
    const { input } = call;
    const free = typeof input === "string";
    const item = {
      id: newId("fc_"),
      type: free ? "custom_tool_call" : "function_call",
      call_id: call.id,
      ...nameOf(call),
    };
    const empty = free ? { input: "" } : { arguments: "" };
    this.#added({ ...item, status: "in_progress", ...empty });
    this.#finish({ ...item, status: "completed", ...(free ? { input } : { arguments: JSON.stringify(input) }) });
  }

  end(): void {
    this.#close();
    this.#emit({ type: "response.completed", response: { ...this.#response("completed"), usage } });
  }

  #openAs(kind: Kind): { id: string; text: string } {
    if (this.#open?.kind === kind) return this.#open;
    this.#close();
    const id = newId(kind === "text" ? "msg_" : "rs_");
    this.#open = { kind, id, text: "" };
    if (kind === "text") {
      this.#added({ id, type: "message", role: "assistant", status: "in_progress", content: [] });
      const part = { type: "output_text", text: "", annotations: [] };
      this.#emit({ type: "response.content_part.added", ...this.#position(id), content_index: 0, part });
    } else {
      this.#added({ id, type: "reasoning", summary: [] });
      const part = { type: "summary_text", text: "" };
      this.#emit({ type: "response.reasoning_summary_part.added", ...this.#position(id), summary_index: 0, part });
    }
    return this.#open;
  }

  #close(): void {
    if (!this.#open) return;
    const { kind, id, text } = this.#open;
    const position = this.#position(id);
    this.#open = undefined;
    if (kind === "text") {
      const part = { type: "output_text", text, annotations: [] };
      this.#emit({ type: "response.output_text.done", ...position, content_index: 0, text });
      this.#emit({ type: "response.content_part.done", ...position, content_index: 0, part });
      this.#finish({ id, type: "message", role: "assistant", status: "completed", content: [part] });
    } else {
      const part = { type: "summary_text", text };
      this.#emit({ type: "response.reasoning_summary_text.done", ...position, summary_index: 0, text });
      this.#emit({ type: "response.reasoning_summary_part.done", ...position, summary_index: 0, part });
      this.#finish({ id, type: "reasoning", summary: [part], encrypted_content: null });
    }
  }

  #added(item: Json): void {
    this.#emit({ type: "response.output_item.added", output_index: this.#output.length, item });
  }

  #finish(item: Json): void {
    this.#emit({ type: "response.output_item.done", output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #position(id: string): Json {
    return { item_id: id, output_index: this.#output.length };
  }

  #response(status: string): Json {
    return {
      id: this.#id,
      object: "response",
      created_at: Math.floor(Date.now() / 1000),
      model: this.#model,
      status,
      output: this.#output,
    };
  }

  #emit(event: { type: string; [key: string]: unknown }): void {
    this.#send({ ...event, sequence_number: this.#sequence++ }, event.type);
  }
}

/** Codex offers the tools of an MCP server in a namespace: `mcp__server/tool` in a script. */
function nameOf({ name }: ToolCall): { name: string; namespace?: string } {
  const [namespace = "", tool] = name.split("/");
  return tool === undefined ? { name } : { name: tool, namespace };
}
