/** What the dashboard requests from the daemon, over the real API: worktrees, preflight, settings, events, terminals. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { listProcesses } from "../../src/base/pid.ts";
import { streamProtocol, tokenProtocolPrefix } from "../../src/contract/stream.ts";
import type { TerminalFrame } from "../../src/contract/terminal.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

test("[API-47, API-48] a worktree can be inspected while its session runs, is stopped, and is in the trash", async () => {
  await using home = await ChatHome.open();
  const { id, workspacePath } = await home.spawn("--name", "look at me");
  expect(await home.call("work", id)).toMatchObject({ uncommitted: 0, unpushed: [] });
  writeFileSync(join(workspacePath, "README.md"), "hello\nagain\n");
  await home.git(workspacePath, ["commit", "-q", "-a", "-m", "more to read"]);
  writeFileSync(join(workspacePath, "loose.txt"), "loose\n");

  const look = async () => ({
    files: (await home.call("changes", id)).files.map(({ path, status, areas }) => [path, status, areas.join()]),
    patch: (await home.call("patch", id, { query: { path: "README.md" } })).patch.split("\n").at(-2),
    found: (await home.call("files", id, { query: { query: "loo" } })).files,
    work: { ...(await home.call("work", id)), where: "" },
  });
  const expected = {
    files: [
      ["README.md", "modified", "committed"],
      ["loose.txt", "untracked", "untracked"],
    ],
    patch: "+again",
    found: ["loose.txt"],
    work: { uncommitted: 1, unpushed: [expect.stringMatching(/more to read$/)], where: "" },
  };
  expect(await look()).toEqual(expected);
  expect((await home.call("work", id)).where).toContain(`holdfast session restore ${id}`);
  await home.ok(["session", "stop", id]);
  expect(await look()).toEqual(expected);
  await home.ok(["session", "kill", id]);
  expect(await home.show(id)).toMatchObject({ workspace: "trashed" });
  expect(await look()).toEqual(expected);
  expect((await home.call("work", id)).where).toMatch(/^Kept in the trash as .* Get it back: holdfast session restore/);
  await home.ok(["trash", "empty", "--yes"]);
  await expect(home.call("changes", id)).rejects.toMatchObject({ code: "not-found", message: /no worktree/ });
  await expect(home.call("changes", "ma-99")).rejects.toMatchObject({ code: "not-found" });
});

test("[API-49, API-50] preflight, settings and doctor report what exists and what is wrong, and create nothing", async () => {
  await using home = await ChatHome.open();
  const absent = { chat: { command: ["no-such-program"] } };
  const projects = { "my-app": { path: ".", prefix: "ma" } };
  writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify({ projects, agents: { absent } }));
  await home.trust();
  const preflight = (body: object) =>
    home.call("preflight", "", { params: { id: "x" }, body: { project: "my-app", ...body } });
  expect(await preflight({ agent: "demo", kind: "chat", prompt: "hello" })).toEqual({
    problems: [],
    branch: null,
    base: "main",
    id: null,
    agent: "demo",
    kind: "chat",
  });
  expect(await preflight({ agent: "demo", issue: "INT-7", name: "login" })).toMatchObject({
    problems: [],
    id: "ma-int-7",
    branch: "int-7-login",
  });
  const messages = async (body: object) => (await preflight(body)).problems.map(({ message }) => message).join(" ");
  expect(await messages({ project: "nowhere" })).toBe("Unknown project: nowhere");
  expect(await messages({ agent: "nobody" })).toBe("Unknown agent: nobody");
  expect(await messages({ agent: "demo", branch: "main" })).toContain("main");
  expect(await messages({ agent: "demo", base: "no-such-ref" })).toBe("Commit no-such-ref does not exist.");
  expect((await preflight({ agent: "absent", kind: "chat" })).problems).toEqual([
    { message: "no-such-program was not found on PATH.", hint: expect.any(String) },
  ]);
  expect(await messages({ agent: "absent", kind: "terminal" })).toContain("has no terminal kind");
  // Nothing was created and no number was used.
  expect(await home.listed()).toEqual([]);
  expect(await home.git(home.repo, ["branch", "--list"])).toBe("* main");
  expect(await home.chat()).toBe("ma-1");

  const settings = await home.call("settings", "x");
  expect(settings).toMatchObject({ home: home.home, readOnly: false, trashDays: 14 });
  expect(settings.projects.map(({ id }) => id)).toEqual(["my-app"]);
  expect(settings.configFiles).toEqual([join(home.repo, "holdfast.yaml")]);
  const agent = (name: string) => settings.agents.find(({ id }) => id === name);
  expect(agent("demo")).toMatchObject({ kinds: ["terminal", "chat"], installed: true, reason: null });
  expect(agent("absent")).toMatchObject({
    kinds: ["chat"],
    installed: false,
    reason: expect.stringContaining("not found on PATH"),
  });
  const own = (await home.call("doctor", "x")).map(({ check }) => check);
  const full = (await home.call("doctor", "x", { query: { full: 1 } })).map(({ check }) => check);
  expect(own).toEqual(["database", "agents' ends", "agents' rights", "containment", "dev containers"]);
  expect(full).toEqual(expect.arrayContaining(["database", "git", "tmux"]));
});

test("[API-51, API-52] events are paged backwards, and a session shows its last line", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  await home.turn(id, "hello there");
  const all = await home.events(id);
  const seqs = async (query: Record<string, number>) =>
    (await home.call("events", id, { query })).map(({ seq }) => seq);
  const last = all.at(-1)!.seq;
  expect(await seqs({ before: last + 1, limit: 3 })).toEqual([last - 2, last - 1, last]);
  expect(await seqs({ before: last - 2, limit: 2 })).toEqual([last - 4, last - 3]);
  expect(await seqs({ before: 4, limit: 10 })).toEqual([1, 2, 3]);
  expect(await seqs({ before: 6, since: 3 })).toEqual([4, 5]);
  expect(await seqs({ before: 1 })).toEqual([]);
  await expect(home.call("events", id, { query: { before: "x" } })).rejects.toMatchObject({ code: "usage" });

  const { lastLine } = await home.show(id);
  expect(lastLine).not.toBeNull();
  expect((await home.said(id)).replaceAll(/\s+/g, " ")).toContain(lastLine!);
  const terminal = await home.spawn("--prompt", "say: seen from afar");
  await home.status(terminal.id, "idle");
  expect((await home.show(terminal.id)).lastLine).toBe("seen from afar");
  await home.ok(["restart"]);
  expect((await home.show(id)).lastLine).toBe(lastLine);
  expect((await home.show(terminal.id)).lastLine).toBe("seen from afar");
});

test("[TERMINAL-40, TERMINAL-41, TERMINAL-44] a terminal is viewed and typed into through the daemon, which reports how it ended", async () => {
  await using home = await ChatHome.open();
  const { id } = await home.spawn();
  const watch = (query = "") => {
    const token = readFileSync(home.paths.token, "utf8").trim();
    const address = `${home.daemon().url.replace("http", "ws")}/api/sessions/${id}/terminal?cols=100&rows=30${query}`;
    const socket = new WebSocket(address, [streamProtocol, tokenProtocolPrefix + token]);
    const frames: TerminalFrame[] = [];
    let screen = "";
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) screen += data.toString();
      else frames.push(JSON.parse(data.toString()) as TerminalFrame);
    });
    return { socket, frames, screen: () => screen };
  };
  const clients = (): number =>
    listProcesses().filter(({ pid }) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.includes(home.paths.tmuxSocket) && line.includes("attach-session");
      } catch {
        return false;
      }
    }).length;

  const typist = watch();
  const watcher = watch("&readonly=1");
  await until("both screens", () => typist.screen() !== "" && watcher.screen() !== "");
  expect(typist.frames).toEqual([{ type: "attached", launch: expect.any(String), readonly: false }]);
  expect(watcher.frames).toMatchObject([{ type: "attached", readonly: true }]);
  watcher.socket.send(Buffer.from("unheard\r"));
  typist.socket.send(Buffer.from("heard by the agent\r"));
  await until("the typed text", () => watcher.screen().includes("heard by the agent"));
  expect(typist.screen()).not.toContain("unheard");

  await home.ok(["restart"]);
  await until("the goodbye", () => typist.frames.at(-1)?.type === "detached");
  await until("the clients to go", () => clients() === 0);
  const again = watch();
  await until("the full screen again", () => again.screen().includes("heard by the agent"));
  await home.ok(["session", "stop", id]);
  await until("the end", () => again.frames.length === 2);
  expect(again.frames[1]).toMatchObject({ type: "detached", reason: expect.stringMatching(/stopped|closed/) });
  await until("the last client to go", () => clients() === 0);
  const late = watch();
  await until("the refusal", () => late.frames.length === 1);
  expect(late.frames).toEqual([{ type: "detached", reason: `${id} is not running.` }]);
});
