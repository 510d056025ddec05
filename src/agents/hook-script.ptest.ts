import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hookCommand, hookLinesName, hookScript, hooksVariable } from "./hook-script.ts";
import { opencodePlugin } from "./opencode.ts";

let directory: string;

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "hook-")), "a 'quoted' $(dir)");
  mkdirSync(directory);
  writeFileSync(join(directory, "hook.sh"), hookScript, { mode: 0o700 });
});

afterEach(() => {
  rmSync(join(directory, ".."), { recursive: true });
});

/** `sh` is one of the others; busybox stands for what containers and small systems have. */
const shells = [["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(
  ([command]) => spawnSync(command!, ["-c", ":"]).error === undefined,
);

const nasty: [string, unknown][] = [
  ["quotes and backslashes", { prompt: `it's "quoted" \\ \\n $(touch x) \`id\` %s %d $HOME ; & | > <` }],
  ["every control character", { prompt: Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("") }],
  ["other scripts", { prompt: "grüße 日本語 🙂 \u2028 \u0085" }],
  ["a prompt of many lines", { prompt: "one\ntwo\r\nthree\n\n", nested: { deep: [1, null, { a: "}" }] } }],
  ["an empty object", {}],
  ["braces in the text", { prompt: "} {", tail: "{" }],
];

describe.each(shells.map((shell) => ({ name: shell.join(" "), shell })))("$name", ({ shell }) => {
  test.each(nasty)("[AGENT-23] %s: one valid line, and the agent gets {}", (_, data) => {
    for (const text of [
      JSON.stringify(data),
      `${JSON.stringify(data, null, "\t")}\n\n`,
      `\r\n ${JSON.stringify(data)} `,
    ]) {
      run(shell, "Stop", text);
    }
    const lines = written();
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toEqual({ event: "Stop", at: expect.any(Number), data });
  });

  test.each(["", "plain text", "[1,2]", "null", "12", '{"cut": "of'])(
    "[AGENT-24] %j is not an object: only the event is written",
    (text) => {
      run(shell, "SessionEnd", text);
      expect(written()).toEqual([{ event: "SessionEnd", at: expect.any(Number), data: null }]);
    },
  );

  test("[AGENT-25] nothing that goes wrong reaches the agent", () => {
    rmSync(join(directory, hookLinesName), { force: true });
    mkdirSync(join(directory, hookLinesName));
    run(shell, "Stop", "{}");
    run(shell, "no such event\n", "{}");
    run(shell, "", "{}");
    expect(readdirSync(directory).sort()).toEqual(["hook.sh", hookLinesName]);
  });
});

test("[AGENT-26] lines of concurrent hooks stay intact", async () => {
  const data = { prompt: "x".repeat(200_000) };
  const runs = Array.from({ length: 12 }, () => {
    const child = spawn(join(directory, "hook.sh"), ["PostToolUse"], { stdio: ["pipe", "ignore", "ignore"] });
    child.stdin.end(JSON.stringify(data));
    return new Promise((resolve) => {
      child.on("close", resolve);
    });
  });
  await Promise.all(runs);
  expect(written()).toHaveLength(12);
});

test("the command that agents are given reaches the script in any directory", () => {
  const env = { ...process.env, [hooksVariable]: directory };
  const ran = spawnSync("sh", ["-c", hookCommand("Stop")], { env, input: "{}", encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: "{}\n", stderr: "" });
  expect(written()).toHaveLength(1);
});

test("the hook script is clean for shellcheck", () => {
  const ran = spawnSync("shellcheck", ["-s", "sh", join(directory, "hook.sh")], { encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: "" });
});

test("[AGENT-27] the OpenCode plugin reports the conversation that the user sees, not its sub-agents", () => {
  writeFileSync(join(directory, "plugin.mjs"), opencodePlugin);
  const words = (sessionID: string, messageID: string, text: string) => ({ type: "text", sessionID, messageID, text });
  const events = [
    { type: "session.created", properties: { sessionID: "ses_1", info: { id: "ses_1" } } },
    { type: "session.created", properties: { sessionID: "ses_2", info: { id: "ses_2", parentID: "ses_1" } } },
    { type: "session.status", properties: { sessionID: "ses_1", status: { type: "busy" } } },
    { type: "session.status", properties: { sessionID: "ses_2", status: { type: "idle" } } },
    { type: "message.part.updated", properties: { sessionID: "ses_1" } },
    { type: "message.updated", properties: { info: { id: "msg_1", sessionID: "ses_1", role: "user" } } },
    { type: "message.part.updated", properties: { part: words("ses_1", "msg_1", "the question") } },
    { type: "message.updated", properties: { info: { id: "msg_2", sessionID: "ses_1", role: "assistant" } } },
    { type: "message.part.updated", properties: { part: words("ses_1", "msg_2", "the answer") } },
    { type: "message.updated", properties: { info: { id: "msg_3", sessionID: "ses_2", role: "assistant" } } },
    { type: "message.part.updated", properties: { part: words("ses_2", "msg_3", "of a sub-agent") } },
    { type: "permission.asked", properties: { sessionID: "ses_2", id: "per_1" } },
    { type: "permission.replied", properties: { sessionID: "ses_2" } },
    { type: "session.status", properties: { sessionID: "ses_1", status: { type: "idle" } } },
    { type: "broken" },
  ];
  const script = `import { Holdfast } from "./plugin.mjs";
    const plugin = await Holdfast();
    await plugin["chat.message"]({ sessionID: "ses_1" }, { parts: [{ type: "text", text: "a\\nb" }, { type: "file" }] });
    for (const event of ${JSON.stringify(events)}) await plugin.event({ event });`;
  const env = { ...process.env, [hooksVariable]: directory };
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: directory,
    env,
    encoding: "utf8",
  });
  expect(ran.stderr).toBe("");
  expect(written().map(({ event, data }) => [event, data])).toEqual([
    ["prompt", { sessionID: "ses_1", text: "a\nb" }],
    ["session.created", { sessionID: "ses_1" }],
    ["session.busy", { sessionID: "ses_1" }],
    ["permission.asked", { sessionID: "ses_2" }],
    ["permission.replied", { sessionID: "ses_2" }],
    ["session.idle", { sessionID: "ses_1", said: "the answer" }],
  ]);
});

function run(shell: string[], event: string, input: string): void {
  const [command, ...args] = shell;
  const ran = spawnSync(command!, [...args, join(directory, "hook.sh"), event], { input, encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: "{}\n", stderr: "" });
}

function written(): Record<string, unknown>[] {
  const text = readFileSync(join(directory, hookLinesName), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
