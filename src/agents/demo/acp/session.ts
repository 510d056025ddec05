/** A session as long as the process lives: its conversation, its picks, and one turn at a time. */
import type { SessionConfigOption, SessionModeState, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import type { DemoConversation, DemoTurn } from "../conversation.ts";

const modes = [
  { id: "default", name: "Default", description: "Asks where a step says so" },
  { id: "auto", name: "Auto", description: "Allows by itself what it would ask" },
  { id: "plan", name: "Plan", description: "Writes and runs nothing" },
];
const models = [
  { value: "demo-small", name: "Demo small" },
  { value: "demo-large", name: "Demo large" },
];

export class DemoSession {
  readonly conversation: DemoConversation;
  readonly cwd: string;
  /** What was allowed for good; forgotten with the process. */
  readonly allowed = new Set<string>();
  // Mode and model are not kept on disk: most agents forget them too, and whoever starts them again must say them again.
  #mode = "default";
  #model = "demo-small";
  #turn: Promise<unknown> = Promise.resolve();
  #stop = new AbortController();

  constructor(conversation: DemoConversation, cwd: string) {
    this.conversation = conversation;
    this.cwd = cwd;
  }

  get mode(): string {
    return this.#mode;
  }

  get model(): string {
    return this.#model;
  }

  setMode(mode: string): boolean {
    if (!modes.some(({ id }) => id === mode)) return false;
    this.#mode = mode;
    return true;
  }

  setModel(model: string): boolean {
    if (!models.some(({ value }) => value === model)) return false;
    this.#model = model;
    return true;
  }

  /** What a client is told of a session that it opens. */
  picks(): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    return {
      modes: { currentModeId: this.#mode, availableModes: modes },
      configOptions: [
        { type: "select", id: "model", name: "Model", category: "model", currentValue: this.#model, options: models },
      ],
    };
  }

  /** Turns run in the order they came; a cancel ends the running one and those that wait. */
  enqueue(run: (signal: AbortSignal) => Promise<StopReason>): Promise<StopReason> {
    const { signal } = this.#stop;
    const turn = this.#turn.then(() => (signal.aborted ? "cancelled" : run(signal)));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  cancel(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
  }
}

/** The conversation as it was shown; a turn of the terminal has only its words. */
export function replayOf(turns: readonly DemoTurn[]): SessionUpdate[] {
  return turns.flatMap(({ prompt, reply, parts }): SessionUpdate[] => [
    textUpdate("user_message_chunk", prompt),
    ...(parts ?? [{ said: reply }]).map((part) =>
      "said" in part ? textUpdate("agent_message_chunk", part.said) : (part.shown as SessionUpdate),
    ),
  ]);
}

export function textUpdate(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId?: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text }, ...(messageId === undefined ? {} : { messageId }) };
}
