import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ProjectJson } from "../../protocol/wire.ts";
import { sessionOf, standIn, type Script, type StandIn } from "../test-support/stand-in.ts";

let open: StandIn[] = [];
afterEach(async () => {
  for (const each of open) await each.close();
  open = [];
});

async function daemon(script: Script | null): Promise<StandIn> {
  const made = await standIn(script);
  open.push(made);
  return made;
}

const projectOf = (id: string, path: string): ProjectJson => ({
  id,
  path,
  prefix: id,
  defaultBranch: "main",
  agent: "claude",
  kind: "terminal",
  tracker: null,
  configFile: null,
  sessions: 0,
});
const verbAnswer = (id: string, more = {}): unknown => ({
  session: sessionOf({ id }),
  remaining: [],
  done: true,
  notes: [],
  ...more,
});
const failure = (status: number, code: string, message: string, hint: string | null = null): Script[string] => ({
  status,
  answer: { error: { code, message, hint } },
});

describe("unknown words", () => {
  test("[CLI-3] an unknown command exits 2 and names the nearest", async () => {
    const { run } = await daemon(null);
    expect(await run(["inof"])).toEqual({
      code: 2,
      out: "",
      err: "Unknown command: inof\nDid you mean holdfast info?",
    });
    expect(await run(["session", "kil", "x"])).toEqual({
      code: 2,
      out: "",
      err: "Unknown command: session kil\nDid you mean holdfast session kill?",
    });
    expect(await run(["qqqqqq"])).toEqual({ code: 2, out: "", err: "Unknown command: qqqqqq\nSee holdfast --help." });
  });

  test.each([
    [["help"], "Usage: holdfast [options]"],
    [["help", "spawn"], "Usage: holdfast spawn"],
    [["help", "session"], "Usage: holdfast session"],
    [["help", "session", "ls"], "Usage: holdfast session ls"],
    [["session", "help", "ls"], "Usage: holdfast session ls"],
    [["session", "--help"], "Usage: holdfast session"],
  ])("[CLI-1] %j is help, exit 0", async (argv, usage) => {
    const { run } = await daemon(null);
    const ran = await run(argv);
    expect([ran.code, ran.err, ran.out.startsWith(usage)]).toEqual([0, "", true]);
    expect((await run(["help", "spwan"])).code).toBe(2);
    expect((await run(["session"])).code).toBe(2);
  });

  test("[CLI-2] an empty session name is wrong usage", async () => {
    const { run } = await daemon({});
    expect(await run(["session", "kill", ""])).toEqual({
      code: 2,
      out: "",
      err: "The argument session is empty.\nSee holdfast session kill --help.",
    });
    expect(await run(["spawn", ""])).toEqual({
      code: 2,
      out: "",
      err: "The argument project is empty.\nSee holdfast spawn --help.",
    });
    expect((await run(["spawn", "my-app", ""])).code).toBe(2);
    expect((await run(["batch-spawn", "", ""])).code).toBe(2);
  });
});

describe("without a daemon", () => {
  test("[CTL-1] --no-start refuses, exits 1 and says how to start", async () => {
    const { run } = await daemon(null);
    expect(await run(["session", "ls", "--no-start"])).toEqual({
      code: 1,
      out: "",
      err: "Holdfast is not running.\nStart it with `holdfast start`, or leave out --no-start.",
    });
  });

  test("[CTL-2] info and stop say so and exit 0", async () => {
    const { run, home } = await daemon(null);
    expect(await run(["stop"])).toEqual({ code: 0, out: "Holdfast is not running.", err: "" });
    expect(await run(["stop", "--halt-sessions"])).toEqual({ code: 0, out: "Holdfast is not running.", err: "" });
    const info = await run(["info", "--json"]);
    expect(JSON.parse(info.out)).toEqual({
      state: "stopped",
      pid: null,
      version: "0.0.0",
      build: "source",
      url: null,
      socket: null,
      home,
      startedAt: null,
      managedBy: null,
    });
  });

  test("[CTL-2] a daemon file of a process that is gone is not believed", async () => {
    const { run, home } = await daemon(null);
    const stale = { pid: process.pid, startTime: "1", bootId: "other", socket: join(home, "s"), url: "http://x" };
    writeFileSync(join(home, "daemon.json"), JSON.stringify(stale));
    expect(JSON.parse((await run(["info", "--json"])).out)).toMatchObject({ state: "stopped", pid: null });
    writeFileSync(join(home, "daemon.json"), '{"pid": 1');
    expect(JSON.parse((await run(["info", "--json"])).out)).toMatchObject({ state: "stopped" });
  });

  test("logs says that there is none, and prints what there is", async () => {
    const { run, home } = await daemon(null);
    expect((await run(["logs"])).code).toBe(1);
    mkdirSync(join(home, "logs"));
    const lines = Array.from({ length: 5 }, (_, at) =>
      JSON.stringify({ at: "2026-01-01T00:00:00.000Z", level: "info", message: `m${at}` }),
    );
    writeFileSync(join(home, "logs", "daemon.log"), `${lines.join("\n")}\n{"half`);
    expect((await run(["logs", "-n", "2", "--json"])).out).toBe(lines.slice(-2).join("\n"));
    expect((await run(["logs", "-n", "0"])).out).toBe("");
    expect((await run(["logs", "-n", "x"])).code).toBe(2);
  });
});

describe("[CLI-5] verbs print the sentences people know", () => {
  test("kill", async () => {
    const notes = ["1 uncommitted file kept in the trash as t1.", "Get it back: holdfast session restore ma-1"];
    const { run, asked } = await daemon({ "POST /api/sessions/ma-1/kill": { answer: verbAnswer("ma-1", { notes }) } });
    expect(await run(["session", "kill", "ma-1"])).toEqual({
      code: 0,
      err: "",
      out: `Session ma-1 killed.\n  ${notes[0]}\n  ${notes[1]}`,
    });
    expect(asked.at(-1)).toEqual({ line: "POST /api/sessions/ma-1/kill", body: {}, actor: undefined });
  });

  test("kill of an unknown session", async () => {
    const { run } = await daemon({ "GET /api/sessions": { answer: [sessionOf({ id: "ma-12" })] } });
    const ran = await run(["session", "kill", "ma-21"]);
    expect(ran.code).toBe(1);
    expect(ran.err.split("\n")).toEqual([
      "Failed to kill session ma-21: Session not found",
      "Did you mean ma-12? List sessions: holdfast session ls --include-terminated",
    ]);
  });

  test("kill that leaves something, and --no-wait", async () => {
    const remaining = [{ pid: 7, what: "agent" }];
    const notes = ["The worktree waits for agent (pid 7)."];
    const answer = verbAnswer("ma-1", { remaining, done: false, notes });
    const verbs = { kill: "killed", stop: "stopped", delete: "deleted", archive: "archived", snooze: "snoozed" };
    const { run, asked } = await daemon(
      Object.fromEntries(Object.keys(verbs).map((verb) => [`POST /api/sessions/ma-1/${verb}`, { answer }])),
    );
    for (const [verb, word] of Object.entries(verbs)) {
      const ran = await run(["session", verb, "ma-1", ...(verb === "delete" ? ["--yes"] : [])]);
      expect([verb, ran.code, ran.out.replace(/ until .*?;/, ";")]).toEqual([
        verb,
        0,
        `Session ma-1 will be ${word}; not everything has ended yet:\n  Still ending: agent (pid 7)\n  ${notes[0]}`,
      ]);
    }
    expect(JSON.parse((await run(["session", "kill", "ma-1", "--json"])).out)).toMatchObject({
      id: "ma-1",
      done: false,
      remaining,
      notes,
    });
    expect((await run(["session", "kill", "ma-1", "--no-wait"])).out).toContain("Session ma-1 will be killed.");
    expect(asked.at(-1)?.body).toEqual({ wait: false });
  });

  test("restore, and what can stand in its way", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/restore": {
        answer: verbAnswer("ma-1", { notes: ["Conversation context reset: gone"] }),
      },
      "POST /api/sessions/ma-2/restore": failure(409, "conflict", "Cannot restore: Session is still running"),
      "POST /api/sessions/ma-3/restore": failure(409, "conflict", "Workspace missing: /trees/ma-3", "Spawn a new one."),
    });
    expect((await run(["session", "restore", "ma-1"])).out).toBe(
      "Session ma-1 restored.\n  Worktree: /trees/ma-1\n  Branch:   some-branch\n  Attach:   tmux -L hf attach -t =ma-1\n  Conversation context reset: gone",
    );
    expect(await run(["session", "restore", "ma-2"])).toEqual({
      code: 1,
      out: "",
      err: "Cannot restore: Session is still running",
    });
    expect((await run(["session", "restore", "ma-3"])).err).toBe("Workspace missing: /trees/ma-3\nSpawn a new one.");
    expect((await run(["session", "restore", "ma-4"])).err).toContain(
      "Failed to restore session ma-4: Session not found",
    );
  });

  test("snooze, rename, and delete, which asks", async () => {
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/snooze": { answer: verbAnswer("ma-1") },
      "POST /api/sessions/ma-1/delete": { answer: verbAnswer("ma-1") },
      "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1" }) },
      "POST /api/sessions/ma-1/rename": { answer: sessionOf({ id: "ma-1", title: "New\u0007title" }) },
    });
    expect((await run(["session", "snooze", "ma-1", "--for", "30m"])).out).toMatch(/^Session ma-1 snoozed until /);
    expect(asked.at(-1)?.body).toEqual({ forMs: 1_800_000 });
    expect((await run(["session", "snooze", "ma-1", "--for", "soon"])).code).toBe(2);
    const far = await run(["session", "snooze", "ma-1", "--for", "9999d"]);
    expect([far.code, far.err.split("\n")[0]]).toEqual([2, "--for must be a year at most, not 9999d."]);
    expect((await run(["session", "snooze", "ma-1", "--for", "99999999999999w"])).code).toBe(2);
    expect((await run(["session", "rename", "ma-1", "New", "title"])).out).toBe("Session ma-1 renamed: New title");
    expect(await run(["session", "delete", "ma-1"])).toEqual({
      code: 1,
      out: "",
      err: "Nothing was deleted.\nAdd --yes to delete it.",
    });
    expect(asked.map(({ line }) => line)).not.toContain("POST /api/sessions/ma-1/delete");
    expect((await run(["session", "delete", "ma-1", "--yes"])).out).toBe("Session ma-1 deleted.");
  });

  test("--json prints the session with what became of the verb, and nothing else", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/stop": { answer: verbAnswer("ma-1", { notes: ["a note"] }) },
    });
    expect(JSON.parse((await run(["session", "stop", "ma-1", "--json"])).out)).toMatchObject({
      id: "ma-1",
      name: "ma-1",
      done: true,
      remaining: [],
      notes: ["a note"],
    });
  });
});

describe("[CLI-6] session ls and status", () => {
  const sessions = [
    sessionOf({ id: "ma-1" }),
    sessionOf({ id: "ma-2", status: "killed" }),
    sessionOf({ id: "ma-3", role: "orchestrator" }),
  ];
  const script: Script = {
    "GET /api/sessions": { answer: sessions },
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
  };
  const ids = (text: string): string[] => (JSON.parse(text) as { id: string }[]).map(({ id }) => id);

  test("JSON follows the same flags", async () => {
    const { run } = await daemon(script);
    expect(ids((await run(["session", "ls", "--json"])).out)).toEqual(["ma-1"]);
    expect(ids((await run(["session", "ls", "--json", "-a", "--include-terminated"])).out)).toEqual([
      "ma-1",
      "ma-2",
      "ma-3",
    ]);
    expect(ids((await run(["status", "--json"])).out)).toEqual(["ma-1", "ma-3"]);
  });

  test("an unknown project is named with the valid ones", async () => {
    const { run } = await daemon({ ...script, "GET /api/sessions": { answer: [] } });
    expect(await run(["session", "ls", "-p", "other"])).toEqual({
      code: 1,
      out: "",
      err: "Unknown project: other\nValid projects: my-app",
    });
  });

  test("[CLI-11] an agent's call carries its session's name", async () => {
    const { run, asked } = await daemon(script);
    await run(["session", "ls"], { env: { HOLDFAST_SESSION: "ma-3" } });
    expect(asked.at(-1)?.actor).toBe("session:ma-3");
  });
});

describe("spawn", () => {
  test("[CLI-12] outside any registered project it says how to begin", async () => {
    const { run } = await daemon({ "GET /api/projects": { answer: [] } });
    const ran = await run(["spawn", "--prompt", "x"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "No holdfast.yaml found"]);
    expect(ran.err).toContain("holdfast init");
  });

  test("[CLI-12] inside a repository, and inside one of its worktrees, the project may be left out", async () => {
    const stand = await daemon({});
    const repository = join(realpathSync(stand.home), "repository");
    const worktree = join(realpathSync(stand.home), "elsewhere");
    mkdirSync(join(repository, ".git/worktrees/elsewhere"), { recursive: true });
    mkdirSync(worktree);
    writeFileSync(join(worktree, ".git"), `gitdir: ${repository}/.git/worktrees/elsewhere\n`);
    const inside = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", repository), projectOf("other", "/nowhere")] },
      "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
    });
    for (const cwd of [repository, worktree]) {
      const ran = await inside.run(["spawn", "7"], { cwd });
      expect(ran.out.split("\n").at(-1)).toBe("SESSION=ma-7");
      expect(inside.asked.at(-1)?.body).toEqual({ project: "my-app", issue: "7" });
    }
    await inside.run(["spawn", "other", "--agent", "codex", "--no-wait", "--resume", "--issue", "9"], {
      cwd: repository,
    });
    expect(inside.asked.at(-1)?.body).toEqual({
      project: "other",
      issue: "9",
      agent: "codex",
      resume: true,
      wait: false,
    });
    const unknown = await inside.run(["spawn", "nope", "7"], { cwd: repository });
    expect(unknown.err).toBe("Unknown project: nope\nValid projects: my-app, other");
  });

  test("[CLI-24] a fast spawn tells nothing on a terminal either, and asks for nothing more", async () => {
    const { run, asked } = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
      "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
    });
    const ran = await run(["spawn", "my-app", "7"], { terminal: true });
    expect([ran.err, ran.out.split("\n").at(-1)]).toEqual(["", "SESSION=ma-7"]);
    expect(asked.map(({ line }) => line)).toEqual(["GET /api/projects", "POST /api/sessions"]);
  });

  test("batch-spawn gives each issue its result and exits 1 if one failed", async () => {
    const { run } = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
      "POST /api/sessions": failure(422, "preflight-failed", "no agent"),
    });
    const ran = await run(["batch-spawn", "1", "2", "1", "-p", "my-app"]);
    expect(ran.code).toBe(1);
    expect(ran.out.split("\n")).toEqual([
      "  Error spawning 1: no agent",
      "  Error spawning 2: no agent",
      "0 sessions spawned, 2 failed.",
    ]);
  });
});

describe("send", () => {
  const answer = (disposition: string, reason: string | null): Script => ({
    "POST /api/sessions/ma-1/prompts": { answer: { promptId: "p", disposition, reason } },
  });

  test("[CLI-13] delivered and queued exit 0, refused exits 1", async () => {
    expect(await (await daemon(answer("delivered", null))).run(["send", "ma-1", "hello", "there"])).toEqual({
      code: 0,
      out: "delivered",
      err: "",
    });
    expect(await (await daemon(answer("queued", "busy"))).run(["send", "ma-1", "x"])).toEqual({
      code: 0,
      out: "queued (busy)",
      err: "",
    });
    expect(await (await daemon(answer("refused", "killed"))).run(["send", "ma-1", "x"])).toEqual({
      code: 1,
      out: "",
      err: "refused (killed)",
    });
  });

  test("[CLI-13] the text comes from words or a file, with the person's id where given", async () => {
    const stand = await daemon(answer("delivered", null));
    await stand.run(["send", "ma-1", "a", "b", "--prompt-id", "mine-1"]);
    expect(stand.asked.at(-1)?.body).toEqual({ promptId: "mine-1", text: "a b" });
    writeFileSync(join(stand.home, "prompt.md"), "from a file\n");
    await stand.run(["send", "ma-1", "-f", join(stand.home, "prompt.md")]);
    expect(stand.asked.at(-1)?.body).toMatchObject({ text: "from a file\n" });
    for (const line of [
      ["send", "ma-1"],
      ["send", "ma-1", "x", "-f", "y"],
      ["send", "ma-1", " "],
      ["send", "ma-1", "x", "--prompt-id", "a b"],
    ]) {
      expect((await stand.run(line)).code).toBe(2);
    }
  });
});

test("[CLI-10] cleanup is in natural order, as JSON too", async () => {
  const line = (session: string): unknown => ({ session, outcome: "skipped", why: "idle" });
  const { run } = await daemon({ "POST /api/cleanup": { answer: ["ma-10", "ma-2", "ma-1"].map(line) } });
  const order = (text: string): string[] => [...text.matchAll(/ma-\d+/g)].map(([id]) => id);
  expect(order((await run(["session", "cleanup"])).out)).toEqual(["ma-1", "ma-2", "ma-10"]);
  expect(order((await run(["session", "cleanup", "--json"])).out)).toEqual(["ma-1", "ma-2", "ma-10"]);
});

describe("init", () => {
  function repositoryIn(home: string): string {
    const path = join(home, "my-app");
    for (const name of ["objects", "refs"]) mkdirSync(join(path, ".git", name), { recursive: true });
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
    return path;
  }

  test("[CONF-16] writes holdfast.yaml, registers the project and names the next step", async () => {
    const { run, home, asked } = await daemon({
      "GET /api/info": { answer: {} },
      "POST /api/projects": { answer: [projectOf("my-app", "/x")] },
    });
    const path = repositoryIn(home);
    const ran = await run(["init", path]);
    expect([ran.code, ran.out]).toEqual([
      0,
      `Wrote ${path}/holdfast.yaml\nProject my-app registered (/x).\nStart a session: holdfast spawn my-app --prompt '...'`,
    ]);
    expect(asked.at(-1)).toMatchObject({ line: "POST /api/projects", body: { path } });
    expect((await run(["init", path])).out).toContain(`Kept ${path}/holdfast.yaml, which was there.`);
  });

  test("[CTL-1] with --no-start and the daemon down it writes nothing", async () => {
    const { run, home } = await daemon(null);
    const path = repositoryIn(home);
    const ran = await run(["init", path, "--no-start"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "Holdfast is not running."]);
    expect(existsSync(join(path, "holdfast.yaml"))).toBe(false);
  });
});

describe("stop --halt-sessions", () => {
  test("[CTL-6] lists what is at work; without a terminal and --yes nothing is stopped", async () => {
    const busy = sessionOf({ id: "ma-1", processes: [{ pid: 7, startedAt: null, what: "agent" }] });
    const { run, asked } = await daemon({
      "GET /api/sessions": { answer: [busy, sessionOf({ id: "ma-2", status: "stopped" })] },
    });
    const ran = await run(["stop", "--halt-sessions"]);
    expect(ran).toEqual({
      code: 1,
      out: "",
      err: "1 session would be stopped:\n  ma-1  [working]  Some work\nNothing was stopped.\nAdd --yes to stop them.",
    });
    expect(asked.map(({ line }) => line)).not.toContain("POST /api/daemon/stop");
  });

  test("[CTL-6] what cannot be ended keeps the daemon up, and is named", async () => {
    const { run, asked } = await daemon({
      "GET /api/sessions": { answer: [] },
      "GET /api/info": { answer: {} },
      "POST /api/daemon/stop": { answer: { kept: 0, halted: [], remaining: ["ma-1"] } },
    });
    const ran = await run(["stop", "--halt-sessions", "--yes"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "Still ending: ma-1."]);
    expect(asked.at(-1)).toMatchObject({ line: "POST /api/daemon/stop", body: { haltSessions: true } });
  });
});

test("[CTL-7] restart leaves a managed daemon alone and says how it is restarted", async () => {
  const stand = await daemon({});
  const { ownDaemonFile } = await import("../test-support/stand-in.ts");
  // A home of its own has a service of its own, by the name that `service install` gives it.
  for (const [managedBy, words, hint] of [
    ["foreground", "runs in the foreground", /^End it where it runs/],
    ["systemd", "is managed by systemd", / holdfast-[0-9a-f]{12}$/],
    ["launchd", "is managed by launchd", /\/holdfast-[0-9a-f]{12}$/],
  ] as const) {
    writeFileSync(
      join(stand.home, "daemon.json"),
      JSON.stringify({ ...ownDaemonFile(join(stand.home, "s")), managedBy }),
    );
    const ran = await stand.run(["restart"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([
      1,
      `The daemon (pid ${process.pid}) ${words}; it was left alone.`,
    ]);
    expect(ran.err.split("\n")).toEqual([expect.any(String), expect.stringMatching(hint)]);
  }
  expect(stand.asked).toEqual([]);
});

test("[CTL-2] start finds a running daemon and leaves it as it is", async () => {
  const { run } = await daemon({ "GET /api/info": { answer: {} } });
  expect(await run(["start", "--port", "0", "--read-only"])).toEqual({
    code: 0,
    err: "",
    out: `Holdfast is already running at http://127.0.0.1:4710 (pid ${process.pid}).`,
  });
});

test("lists of the rest, and dashboard --no-open prints only the link", async () => {
  const { run } = await daemon({
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
    "GET /api/trash": { answer: [] },
    "POST /api/login-link": { answer: { url: "http://127.0.0.1:1/#code=x", expiresAt: null } },
    "GET /api/sessions/ma-1/events": {
      answer: [{ seq: 1, at: "2026-01-01T00:00:00.000Z", type: "notice", text: "hi" }],
    },
    "DELETE /api/projects/my-app": { answer: projectOf("my-app", "/x") },
  });
  expect((await run(["project", "ls"])).out).toBe("my-app  my-app-*  claude (terminal)  0 sessions  /x");
  expect((await run(["project", "rm", "my-app"])).out).toBe("Project my-app removed. Nothing on disk was touched.");
  expect((await run(["trash", "ls"])).out).toBe("The trash is empty.");
  expect((await run(["trash", "empty", "--yes"])).out).toBe("Nothing to remove.");
  expect((await run(["dashboard", "--no-open"])).out).toBe("http://127.0.0.1:1/#code=x");
  expect((await run(["events", "ma-1", "--json"])).out).toBe(
    '{"seq":1,"at":"2026-01-01T00:00:00.000Z","type":"notice","text":"hi"}',
  );
  expect((await run(["events", "ma-1", "--since", "x"])).code).toBe(2);
});

test("[CLI-14] completion asks a running daemon for names and starts none", async () => {
  const { run } = await daemon({
    "GET /api/sessions": { answer: [sessionOf({ id: "ma-1" }), sessionOf({ id: "ab-1" })] },
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
  });
  expect((await run(["complete", "--", "session", "kill", "ma"])).out).toBe("ma-1\tworking Some work");
  expect((await run(["complete", "--", "session", "ls", "-p", ""])).out).toBe("my-app\t/x");
  expect((await run(["complete", "--", "spawn", "--kind", ""])).out).toBe("terminal\nchat");
  expect((await run(["complete", "--", "send", "ma-1", "-f", ""])).out).toBe(":files");
  expect((await run(["complete", "--", "session", "ki"])).out).toMatch(/^kill\t/);
  expect((await run(["complete", "--", "info", "--"])).out).toBe("--json\tprint JSON");
  expect((await run(["complete", "--", "comp"])).out).toMatch(/^completion\t/);
  expect((await run(["complete", "--", ""])).out).toMatch(/^init\t.*\nproject\t/);
  const down = await daemon(null);
  expect(await down.run(["complete", "--", "session", "kill", ""])).toEqual({ code: 0, out: "", err: "" });
});
