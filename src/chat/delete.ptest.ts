import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";

test("[CHAT-46] an agent that accepts a delete but still lists the conversation has not deleted it", async () => {
  const warned: string[] = [];
  const silent = () => undefined;
  const warn = (message: string, fields?: object): void => void warned.push(`${message} ${JSON.stringify(fields)}`);
  await using world = new AcpWorld({ log: { debug: silent, info: silent, warn, error: silent } });
  const id = await world.up("pretends-to-delete");
  expect(await world.runtime.deleteConversation(world.state(id))).toBe("failed");
  expect(warned.join("\n")).toMatch(/did not delete its conversation .*"part":"acp.protocol".*"still listed"/);
  expect(warned.join("\n")).toContain(`"adapter":"${world.state(id).agent}"`);
});

test("[CHAT-46] an agent without session/delete is reported as such, without a warning", async () => {
  const logged: [string, unknown][] = [];
  const at = (level: string) => (_message: string, fields?: object) => void logged.push([level, fields]);
  await using world = new AcpWorld({
    log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
  });
  const id = await world.up("answers-twice");
  expect(await world.runtime.deleteConversation(world.state(id))).toBe("unsupported");
  const outcomes = logged.filter(([, fields]) => (fields as { part?: string } | undefined)?.part === "acp.protocol");
  expect(outcomes).toEqual([["debug", expect.objectContaining({ method: "session/delete", code: -32601 })]]);
});

test("[CHAT-47] an agent's own command deletes its copy: with the conversation's id, in the agent's environment, with an outcome", async () => {
  await using world = new AcpWorld();
  const seen = join(world.directory, "seen");
  const command = join(world.directory, "forget");
  writeFileSync(command, `#!/bin/sh\necho "$1 $TOKEN" >"${seen}"; exit "\${STATUS:-0}"\n`);
  chmodSync(command, 0o700);
  const id = await world.up("demo", { deleteCommand: [command, "{id}"], env: { TOKEN: "t" } });
  const conversation = world.state(id).agentSessionId;
  expect(await world.runtime.deleteByCommand(world.state(id), {})).toBe("deleted");
  expect(readFileSync(seen, "utf8")).toBe(`${conversation} t\n`);
  expect(await world.runtime.deleteByCommand(world.state(id), { STATUS: "3" })).toBe("failed");
  const other = await world.up("demo", { deleteCommand: ["no-such-command", "{id}"] });
  expect(await world.runtime.deleteByCommand(world.state(other), {})).toBe("none");
  const without = await world.up("demo");
  expect(await world.runtime.deleteByCommand(world.state(without), {})).toBe("none");
});
