/** A composer in a terminal, as an agent that prompts are sent to. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { program, type TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import { asPromptId } from "../contract/ids.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import type { Confirmation, SendResult, SentPrompt, TerminalRuntime } from "../ports/runtime.ts";
import type { SessionState } from "../model/session.ts";
import type { SendTimes } from "./send.ts";

export const prompt = (text: string): { promptId: ReturnType<typeof asPromptId>; text: string } => ({
  promptId: asPromptId("p"),
  text,
});

/** Retries like the daemon while the agent is not ready or its line is not free: it clears the line after it reports a prompt. */
export function delivered(
  { runtime, session }: Pick<Composer, "runtime" | "session">,
  text: string,
): Promise<SendResult> {
  return until("the agent to take it", async () => {
    const now = await runtime.send(session, prompt(text));
    return now.sent === "not-now" ? null : now;
  });
}

export interface Composer {
  world: TmuxWorld;
  runtime: TerminalRuntime;
  session: SessionState;
  /** What the agent took as prompts. */
  taken: () => string[];
}

/** For what arrives: a busy machine shows it late. */
export const patient: SendTimes = { arriveMs: 20_000, hookMs: 20_000, reactMs: 20_000, restMs: 100 };
/** For what never does. */
export const hasty: SendTimes = { arriveMs: 1000, hookMs: 1000, reactMs: 1000, restMs: 100 };

export async function composer(
  world: TmuxWorld,
  env: Record<string, string> = {},
  over: Partial<TerminalAgent> = {},
  sendTimes = patient,
  isDrawn = (screen: string): boolean => screen.includes("╭─"),
): Promise<Composer> {
  const runtime = world.open({ sendTimes });
  const log = join(world.directory, "taken");
  const planned = world.sessionOf({
    start: program("prints-a-composer.ts"),
    env: { COMPOSER_LOG: log, ...env },
    ...over,
  });
  const { session } = await world.up(runtime, planned);
  await until("the composer", async () => isDrawn(await runtime.capture(session, 50)));
  const taken = (): string[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as string)
      : [];
  return { world, runtime, session, taken };
}
/** An agent whose input line is known, and that confirms prompts by a hook. */
export const known = {
  input: { line: /╭─+╮ *\n│ >([^]*?)\n╰/g, empty: /^[\s│]*$/, clear: "C-u", keeps: /Queued \(press up/ },
  hookRules: [{ event: "UserPromptSubmit", activity: null, promptField: "prompt" }],
  screenRules: [
    { where: "screen", pattern: /Choose how to go on/, activity: "needs_input", reason: "It asks how to go on" },
  ],
  confirmMs: 2000,
} satisfies Partial<TerminalAgent>;
export const hooked = { HOLDFAST_HOOKS: "{hooks}", COMPOSER_HOOKS: "{hooks}/hooks.jsonl" };
export const anything = (): boolean => true;

export const sent = ({ session }: Composer, text: string, over: Partial<SentPrompt> = {}): SentPrompt => {
  if (session.run.run !== "up") throw new Error("it is not up");
  const { launch } = session.run;
  return { ...prompt(text), launch, mark: 0, sentAt: Date.now(), asArgument: false, ...over };
};

export const settled = (one: Composer, what: SentPrompt): Promise<Confirmation> =>
  until("the prompt to be settled", async () => {
    const now = await one.runtime.confirm(one.session, what, { finish: true });
    return now.is === "waiting" ? null : now;
  });
