/** The receipt of a prompt is true, for an agent that starts slowly, asks first or dies. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionJson } from "../../src/contract/session.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

interface Receipt {
  disposition: string;
  reason: string | null;
}

/** A home whose `claude` is the fake of test/agents/like-claude.ts, with its faults set for every session. */
class ClaudeHome extends ProjectHome {
  readonly gate = join(this.directory, "gate");
  readonly dialog = join(this.directory, "dialog");
  readonly silent = join(this.directory, "silent");
  readonly #log = join(this.directory, "taken");

  static async open(more: Record<string, string> = {}): Promise<ClaudeHome> {
    const home = new ClaudeHome();
    try {
      await home.#prepare(more);
      return home;
    } catch (error) {
      await home[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #prepare(more: Record<string, string>): Promise<void> {
    const bin = join(this.directory, "bin");
    mkdirSync(bin);
    const fake = join(import.meta.dirname, "../agents/like-claude.ts");
    writeFileSync(join(bin, "claude"), `#!/bin/sh\nexec ${process.execPath} ${fake} "$@"\n`);
    chmodSync(join(bin, "claude"), 0o755);
    this.env["PATH"] = `${bin}:${this.env["PATH"]}`;
    await this.ok(["start", "--port", "0"]);
    this.repo = await this.repository("my-app");
    const env = {
      FAKE_GATE: this.gate,
      FAKE_DIALOG: this.dialog,
      FAKE_SILENT: this.silent,
      FAKE_LOG: this.#log,
      ...more,
    };
    const lines = Object.entries(env).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`);
    const head = ["projects:", "  my-app:", "    path: .", "    prefix: ma", "    agent: claude", "    kind: terminal"];
    writeFileSync(join(this.repo, "holdfast.yaml"), [...head, "    env:", ...lines, ""].join("\n"));
    await this.ok(["project", "add", this.repo]);
  }

  started(...args: string[]): Promise<SessionJson> {
    return this.json(["spawn", "my-app", ...args]);
  }

  /** Exit code and receipt. */
  async give(id: string, text: string, ...args: string[]): Promise<Receipt & { code: number | null }> {
    const ran = await this.cli(["send", id, text, "--json", ...args]);
    return { code: ran.code, ...(JSON.parse(ran.stdout) as Receipt) };
  }

  taken(): string[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as string);
  }

  async fates(id: string): Promise<string[]> {
    const fates = ["prompt.sent", "prompt.doubtful", "prompt.requeued"];
    return (await this.events(id)).map(({ type }) => type).filter((type) => fates.includes(type));
  }
}

const starting = { code: 0, disposition: "queued", reason: "agent is starting" };

test("[SESSION-45] a prompt waits for an agent that starts slowly, also across a daemon restart, and the agent confirms it", async () => {
  await using home = await ClaudeHome.open();
  const { id } = await home.started();
  expect(await home.give(id, "one", "--timeout", "1s")).toMatchObject(starting);
  expect((await home.show(id)).status).toBe("starting");
  expect(await home.give(id, "two", "--timeout", "1s")).toMatchObject(starting);
  await home.ok(["restart"]);
  expect(await home.show(id)).toMatchObject({ status: "starting", queued: 2 });
  expect(home.taken()).toEqual([]);
  writeFileSync(home.gate, "");
  expect(await home.give(id, "three", "--timeout", "2m")).toMatchObject({
    code: 0,
    disposition: "delivered",
    reason: null,
  });
  expect(home.taken()).toEqual(["one", "two", "three"]);
  expect(await home.fates(id)).toEqual(["prompt.sent", "prompt.sent", "prompt.sent"]);
  await home.status(id, "idle");
});

/** What every user of the machine can read. */
function commandLines(): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
    } catch {
      return [];
    }
  });
}

test("[SESSION-46] [TEXT-10] a first prompt is delivered when the agent confirms it, and is in no command line; a dialog before it is shown as a question with its text", async () => {
  await using home = await ClaudeHome.open();
  writeFileSync(home.gate, "");
  writeFileSync(home.dialog, "");
  const first = `the first of ${home.directory}`;
  const { id } = await home.started("--prompt", first);
  expect(
    commandLines()
      .filter((line) => line.includes(first))
      .join("\n"),
  ).toBe("");
  const asks = "Claude Code asks whether to resume the conversation in full or from a summary";
  expect(await home.status(id, "needs_input")).toMatchObject({ reason: asks, queued: 1 });
  expect(await home.ok(["status"])).toContain(asks);
  expect(await home.ok(["session", "show", id])).toContain(asks);
  const notice = await until("the notification", async () =>
    (await home.events(id)).find(({ type }) => type === "notification"),
  );
  expect(notice["text"]).toContain(asks);
  expect(await home.give(id, "second")).toMatchObject({
    code: 0,
    disposition: "queued",
    reason: `${asks} (answer it first)`,
  });
  expect(await home.fates(id)).toEqual([]);
  rmSync(home.dialog);
  await until("both", () => home.taken().length === 2);
  expect(home.taken()).toEqual([first, "second"]);
  await until("their receipts", async () => (await home.fates(id)).length === 2);
  expect(await home.fates(id)).toEqual(["prompt.sent", "prompt.sent"]);
});

test("[SESSION-46] a first prompt stays queued for the next start if the agent dies before reading it", async () => {
  await using home = await ClaudeHome.open();
  const { id } = await home.started("--prompt", "the first");
  const { pid } = await home.agent(id);
  process.kill(pid, "SIGKILL");
  await until("the next start", async () => (await home.agent(id)).pid !== pid);
  writeFileSync(home.gate, "");
  await until("its receipt", async () => (await home.fates(id)).includes("prompt.sent"));
  expect(home.taken()).toEqual(["the first"]);
  // It was never passed to the agent that died.
  expect(await home.fates(id)).toEqual(["prompt.sent"]);
});

test("[SESSION-46] a first prompt that the agent dropped becomes unconfirmed, and the next one is delivered", async () => {
  await using home = await ClaudeHome.open({ FAKE_DROPS: "1" });
  writeFileSync(home.gate, "");
  const { id } = await home.started("--prompt", "the first", "--json");
  const next = home.give(id, "second", "--timeout", "2m");
  expect(await next).toMatchObject({ code: 0, disposition: "delivered" });
  expect(await home.fates(id)).toEqual(["prompt.doubtful", "prompt.sent"]);
  expect(home.taken()).toEqual(["second"]);
});

test("[SESSION-48] a typed prompt is shown as awaiting confirmation, and the next one as queued", async () => {
  await using home = await ClaudeHome.open();
  const { id } = await home.started();
  const one = ["one", "--prompt-id", "p-1", "--timeout", "1s"] as const;
  expect(await home.give(id, ...one)).toMatchObject(starting);
  writeFileSync(home.silent, "");
  writeFileSync(home.gate, "");
  await until("the prompt", () => home.taken().length > 0);
  const queued = { code: 0, disposition: "queued" };
  const open = "the agent has not confirmed it yet";
  expect(await home.give(id, ...one)).toMatchObject({ ...queued, reason: open });
  const behind = "an earlier prompt is still being delivered";
  expect(await home.give(id, "two", "--timeout", "1s")).toMatchObject({ ...queued, reason: behind });
  rmSync(home.silent);
  expect(await home.give(id, "three")).toMatchObject({ code: 0, disposition: "delivered" });
  expect(home.taken()).toEqual(["one", "two", "three"]);
});

test("[SESSION-47] a prompt for a session whose worktree is missing is queued, and its receipt names the reason immediately", async () => {
  await using home = await ClaudeHome.open();
  writeFileSync(home.gate, "");
  const { id, workspacePath } = await home.started("--prompt", "the first");
  await home.status(id, "idle");
  await home.ok(["session", "stop", id]);
  renameSync(workspacePath, `${workspacePath}-away`);
  expect(await home.give(id, "second")).toMatchObject({
    code: 0,
    disposition: "queued",
    reason: `Workspace missing: ${workspacePath}`,
  });
  renameSync(`${workspacePath}-away`, workspacePath);
  await until("it to be delivered", () => home.taken().includes("second"));
});

test("[SESSION-43] a prompt that an agent only shows is `typed`, and a doubtful one is `unconfirmed` with exit code 1", async () => {
  await using home = await ClaudeHome.open();
  const config = join(home.home, "config.yaml");
  writeFileSync(config, `agents:\n  plain:\n    terminal:\n      command: [cat]\n`);
  const { id } = await home.started("--agent", "plain");
  expect(await home.give(id, "hello")).toMatchObject({
    code: 0,
    disposition: "typed",
    reason: `the agent does not confirm it, check with: holdfast session screen ${id}`,
  });
  const deaf = await home.started("--agent", "plain");
  // Its terminal no longer shows typed text.
  await home
    .run("tmux", [
      "-L",
      home.paths.tmuxSocket,
      "display-message",
      "-p",
      "-t",
      `=worker-my-app-${deaf.id}:`,
      "#{pane_tty}",
    ])
    .then(({ stdout }) => home.run("stty", ["-F", stdout.trim(), "-echo"]));
  const receipt = await home.give(deaf.id, "hello", "--timeout", "2m");
  expect(receipt).toMatchObject({ code: 1, disposition: "unconfirmed" });
  expect(receipt.reason).toContain(`holdfast session screen ${deaf.id}`);
});
