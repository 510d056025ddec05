/** Agents that call Holdfast themselves: through the CLI, and through the tools of `holdfast mcp`. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { SessionJson } from "../../src/contract/session.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

test("[SESSION-55, SESSION-56, MCP-4, AUTHORIZE-8] an agent reaches its own project's sessions, by command and by tool, and no others", async () => {
  await using home = await ProjectHome.make();
  const other = await home.repository("other");
  await home.ok(["project", "add", other]);
  const stranger = await home.json(["spawn", "other", "--agent", "demo", "--kind", "terminal"]);
  const boss = await home.spawn("--role", "orchestrator", "--prompt", "say: hello");
  const told = (await home.events(boss.id)).find(({ type }) => type === "prompt.admitted");
  expect(String(told?.["text"])).toMatch(/orchestrator of the project my-app[^]*The user's task:\n\nsay: hello/);

  const env = { HOLDFAST_SESSION: boss.id };
  const worker = await home.json(["spawn", "my-app", "--agent", "demo", "--kind", "chat"], { env });
  expect(worker.intent.by).toBe(`session:${boss.id}`);
  expect((await home.json<SessionJson[]>(["session", "ls", "--all"], { env })).map(({ id }) => id).toSorted()).toEqual(
    [boss.id, worker.id].toSorted(),
  );
  expect(await home.cli(["session", "show", stranger.id], { env })).toMatchObject({ code: 1 });
  expect((await home.cli(["send", stranger.id, "hello"], { env })).stderr).toContain("no access to other");
  expect((await home.cli(["session", "kill", worker.id], { env })).stderr).toContain("Only the user may do this");
  expect((await home.show(worker.id)).intent.want).toBe("running");
  expect((await home.cli(["dashboard", "--no-open"], { env })).stderr).toContain("Only the user may do this");
  expect((await home.cli(["events", stranger.id, "--follow"], { env })).code).toBe(1);
  const follow = (query: string): Promise<number> => statusOf(home, `/api/events${query}`, boss.id);
  expect(await follow(`?session=${worker.id}`)).toBe(200);
  expect([await follow(`?session=${stranger.id}`), await follow("")]).toEqual([403, 403]);

  await using tools = new Tools(home, env);
  const ask = (name: string, input: object) => tools.call(name, input);
  expect(JSON.parse((await ask("list_sessions", {})).text)).toHaveLength(2);
  expect((await ask("get_session", { session: stranger.id })).isError).toBe(true);
  const sent = await ask("send_message", { session: worker.id, text: "say: from the boss", wait: true });
  expect(JSON.parse(sent.text)).toMatchObject({ turn: { stopReason: "end_turn" } });
  expect((await ask("read_session", { session: worker.id })).text).toContain("from the boss");
  const second = JSON.parse(
    (await ask("spawn_session", { prompt: "say: second", agent: "demo", kind: "terminal" })).text,
  );
  expect(second).toMatchObject({ project: "my-app", role: "worker" });
  await until("its screen", async () => (await ask("read_session", { session: second.id })).text.includes("second"));
  const first = (await home.events(second.id)).find(({ type }) => type === "prompt.admitted");
  expect(first?.["text"]).toBe(
    `Message from session ${boss.id} (an agent, not the user):\n\n\`\`\`message\nsay: second\n\`\`\``,
  );
});

/** The response to a program that uses a session's name, as the CLI does. */
async function statusOf(home: ProjectHome, path: string, session: string): Promise<number> {
  const { socket } = await home.json<{ socket: string }>(["info"]);
  const headers = { host: "localhost", "holdfast-actor": `session:${session}` };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path, headers, agent: false }, (response) => {
      resolve(response.statusCode ?? 0);
      asked.destroy();
    });
    asked.once("error", reject);
    asked.end();
  });
}

interface Answer {
  id: number;
  result: { content: { text: string }[]; isError: boolean };
}

/** A client of `holdfast mcp`, as an agent starts one. */
class Tools implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<unknown>;
  #next = 1;

  constructor(home: ProjectHome, env: Record<string, string>) {
    const bin = join(import.meta.dirname, "../../bin/holdfast");
    this.#child = spawn(bin, ["mcp"], { cwd: home.directory, env: { ...home.env, ...env } });
    this.#ended = new Promise((resolve) => this.#child.once("exit", resolve));
    createInterface(this.#child.stdout).on("line", (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
    });
  }

  async call(name: string, input: object): Promise<{ text: string; isError: boolean }> {
    const id = this.#next++;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    const params = { name, arguments: input };
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    const { result } = await answered;
    return { text: result.content[0]!.text, isError: result.isError };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}
