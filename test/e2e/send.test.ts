import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

const types = async (home: ProjectHome, id: string): Promise<string[]> =>
  (await home.events(id)).map(({ type }) => type);

test("[SESSION-43] a prompt is delivered when the agent confirms it, in any script", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  for (const text of [
    "say: with; semicolons; 'quotes' \"double\" $HOME `x` #(touch no)",
    "say: ünïcödé ✓ 漢字",
    `say: long ${"word ".repeat(4000)}end`,
  ]) {
    const answer = await home.json<{ disposition: string; reason: string | null }>(["send", id, text]);
    expect(answer).toMatchObject({ disposition: "delivered", reason: null });
  }
  const fromStdin = await home.json<{ disposition: string }>(["send", id, "-"], {
    input: "say: line one\nsay: line two\n",
  });
  expect(fromStdin.disposition).toBe("delivered");
  expect((await types(home, id)).filter((type) => type === "prompt.sent")).toHaveLength(5);
});

test("[SESSION-49] a retry with the same id sends nothing twice; other text with that id is refused", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  for (let time = 0; time < 2; time++) {
    expect(await home.json(["send", id, "say: once", "--prompt-id", "p1"])).toMatchObject({
      promptId: "p1",
      disposition: "delivered",
    });
  }
  expect((await types(home, id)).filter((type) => type === "prompt.sent")).toHaveLength(2);
  const other = await home.cli(["send", id, "say: other", "--prompt-id", "p1"]);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain("already used with a different text");
});

test("[SESSION-50] nothing is typed into a session with an open question; the prompt is delivered once it is answered", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "ask: may I?");
  await home.status(id, "needs_input");
  await until("the first prompt to be confirmed", async () => (await types(home, id)).includes("prompt.sent"));
  const answer = await home.json<{ disposition: string; reason: string }>([
    "send",
    id,
    "say: later",
    "--timeout",
    "1s",
  ]);
  expect(answer).toMatchObject({
    disposition: "queued",
    reason: "The demo agent asks for permission (answer it first)",
  });
  expect((await home.show(id)).queued).toBe(1);
  await home.run("tmux", ["-L", home.paths.tmuxSocket, "send-keys", "-t", `=worker-my-app-${id}:`, "y", "Enter"]);
  await until(
    "the queued prompt to be delivered",
    async () => (await types(home, id)).filter((type) => type === "prompt.sent").length === 2,
  );
  expect((await home.show(id)).queued).toBe(0);
});

test("[SESSION-43] the next daemon settles a prompt whose daemon died while typing, and never sends it twice", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  // Before the first key nothing shows whether it was typed; after the last one the agent's own hook has it.
  for (const [point, fate] of [
    ["prompt.recorded", "prompt.doubtful"],
    ["prompt.typed", "prompt.sent"],
  ] as const) {
    const promptId = point.replace(".", "-");
    home.arm(point, "kill");
    await home.cli(["send", id, `say: at ${point}`, "--prompt-id", promptId]);
    home.disarm(point);
    await home.ok(["start"]);
    const settled = await until("the prompt to be settled", async () =>
      (await home.events(id)).find(
        (event) => event["promptId"] === promptId && ["prompt.doubtful", "prompt.sent"].includes(event.type),
      ),
    );
    expect(settled.type).toBe(fate);
  }
  const sending = (await home.events(id)).filter(({ type }) => type === "prompt.sending");
  expect(new Set(sending.map((event) => event["promptId"])).size).toBe(sending.length);
});
