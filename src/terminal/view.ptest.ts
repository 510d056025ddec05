import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { program, TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import { listProcesses } from "../base/pid.ts";
import type { TerminalRuntime, TerminalView, ViewRequest } from "../ports/runtime.ts";
import { asLaunchId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { upSession } from "../ports/runtime-contract.fixture.ts";

interface Watched {
  view: TerminalView;
  shown: () => string;
  ends: string[];
}

const size: ViewRequest = { cols: 90, rows: 20, readonly: false };

async function watch(
  runtime: TerminalRuntime,
  session: SessionState,
  over: Partial<ViewRequest> = {},
): Promise<Watched> {
  const view = await runtime.view(session, { ...size, ...over });
  let text = "";
  const ends: string[] = [];
  view.start({ data: (bytes) => void (text += bytes.toString()), end: (reason) => void ends.push(reason) });
  return { view, shown: () => text, ends };
}

/** tmux clients on pseudo-terminals, which carry no mark of the test in their environment. */
function clients(world: TmuxWorld): number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.includes(world.socketName) && line.includes("attach-session");
      } catch {
        return false;
      }
    });
}

const printing = (what: string): string[] => ["sh", "-c", `printf '${what}'; exec cat`];

test("[TERMINAL-40] each viewer gets the complete screen, and sees what the others type", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, request } = await world.up(runtime, world.sessionOf({ start: printing("hello from before") }));
  const first = await watch(runtime, session);
  expect(first.view.launch).toBe(request.launch);
  await until("the first screen", () => first.shown().includes("hello from before"));
  const second = await watch(runtime, session, { readonly: true });
  await until("the second screen", () => second.shown().includes("hello from before"));
  first.view.write(Buffer.from("grüße\r"));
  await until("what was typed", () => second.shown().includes("grüße"));
  first.view.close();
  const again = await watch(runtime, session);
  // It comes in pieces.
  await until("the whole screen again", () => /hello from before[^]*grüße/.test(again.shown()));
});

test("[TERMINAL-42] a viewer cannot use tmux's own keys: Ctrl-B and the next keys go to the agent", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const raw = "stty raw -echo; printf ready; exec cat -v";
  const { session } = await world.up(runtime, world.sessionOf({ start: ["sh", "-c", raw] }));
  const { session: other } = await world.up(runtime, world.sessionOf({ start: printing("the other") }));
  const { view, shown, ends } = await watch(runtime, session);
  await until("the agent", () => shown().includes("ready"));
  // With tmux's keys in force this would go to the next session, and detach there.
  view.write(Buffer.from("\x02)\x02d"));
  await until("all four keys", async () => (await runtime.capture(session, 50)).includes("^B)^Bd"));
  expect(ends).toEqual([]);
  expect(await runtime.capture(other, 50)).toBe("the other");
});

test("[TERMINAL-43] one who only watches leaves the size alone; among those who type the latest gives it", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session } = await world.up(runtime, world.sessionOf({ start: ["cat"] }));
  const width = (): string => world.tmux("list-windows", "-a", "-F", "#{window_width}x#{window_height}").trim();
  const typist = await watch(runtime, session);
  await until("the typist's size", () => width() === "90x20");
  const watcher = await watch(runtime, session, { readonly: true, cols: 40, rows: 10 });
  await until("the watcher's screen", () => watcher.shown() !== "");
  watcher.view.resize(41, 11);
  typist.view.resize(100, 30);
  await until("the typist's new size", () => width() === "100x30");
  watcher.view.watchOnly(false);
  watcher.view.write(Buffer.from("x"));
  await until("the size of the one who types now", () => width() === "41x11");
  watcher.view.watchOnly(true);
  await until("the first one's size again", () => width() === "100x30");
});

test("[LIMIT-7] a viewer that only watches never sizes the window, also when it is the only one", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session } = await world.up(runtime, world.sessionOf({ start: printing("steady") }));
  const width = (): string => world.tmux("list-windows", "-a", "-F", "#{window_width}x#{window_height}").trim();
  const before = width();
  const watcher = await watch(runtime, session, { readonly: true, cols: 40, rows: 10 });
  await until("the watcher's screen", () => watcher.shown().includes("steady"));
  expect(width()).toBe(before);
  watcher.view.resize(2, 2);
  const second = await watch(runtime, session, { readonly: true, cols: 30, rows: 8 });
  await until("the other watcher's screen", () => second.shown() !== "");
  expect(width()).toBe(before);
  // One who types gives it a size, which stays when they only watch from then on.
  watcher.view.resize(44, 12);
  watcher.view.watchOnly(false);
  watcher.view.write(Buffer.from("x"));
  await until("the size of one who types", () => width() === "44x12");
  watcher.view.watchOnly(true);
  watcher.view.resize(2, 2);
  second.view.close();
  const third = await watch(runtime, session, { readonly: true, cols: 20, rows: 7 });
  await until("the third one's screen", () => third.shown() !== "");
  expect(width()).toBe("44x12");
});

test("[LIMIT-7] viewers that come, go and take turns typing never end the server", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session } = await world.up(runtime, world.sessionOf({ start: printing("steady") }));
  const server = (): string => world.tmux("display-message", "-p", "#{pid}").trim();
  const before = server();
  for (let round = 0; round < 25; round++) {
    const first = await watch(runtime, session, { readonly: true, cols: 40, rows: 10 });
    const second = await watch(runtime, session, { readonly: true, cols: 30, rows: 8 });
    first.view.resize(44, 12);
    first.view.watchOnly(false);
    first.view.write(Buffer.from("x"));
    first.view.watchOnly(true);
    first.view.resize(2, 2);
    second.view.close();
    const third = await watch(runtime, session, { readonly: true, cols: 20, rows: 7 });
    first.view.close();
    third.view.close();
  }
  await until("the viewers' clients to be gone", () => clients(world).length === 0);
  expect(server()).toBe(before);
});

test("[TERMINAL-44] a viewer's client ends with the viewer, with the session and with the daemon, also when tmux hangs", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session } = await world.up(runtime, world.sessionOf({ start: program("ends-on-request.sh") }));
  const one = await watch(runtime, session);
  const two = await watch(runtime, session);
  await until("both clients", () => clients(world).length === 2);
  one.view.close();
  await until("the first to go", () => clients(world).length === 1);
  expect(one.ends).toEqual([]);
  await runtime.stop(session, { force: true, deadlineMs: 5000 });
  await until("the second to be told", () => two.ends.length === 1);
  await until("the second to go", () => clients(world).length === 0);
  two.view.write(Buffer.from("nobody hears this"));

  const { session: next } = await world.up(runtime, world.sessionOf({ start: ["cat"] }));
  await watch(runtime, next);
  const server = Number(world.tmux("display-message", "-p", "#{pid}"));
  process.kill(server, "SIGSTOP");
  try {
    await runtime.close();
    await until("the last to go", () => clients(world).length === 0);
  } finally {
    process.kill(server, "SIGCONT");
  }
});

test("[TERMINAL-41] only the launch on record is shown: not another one, not a dead one, not one that never was", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({ start: program("ends-on-request.sh") });
  await expect(runtime.view(planned, size)).rejects.toThrow(`The screen of ${planned.id} cannot be shown`);
  const { session, result } = await world.up(runtime, planned);
  const replaced = upSession(planned, asLaunchId("another"), result.agent);
  await expect(runtime.view(replaced, size)).rejects.toThrow("its agent is not running");
  const { view } = await watch(runtime, session);
  view.write(Buffer.from("3\r"));
  await until("its end", async () => (await runtime.capture(session, 20)).includes("last words"));
  await until("tmux to know", () => world.tmux("list-panes", "-a", "-F", "#{pane_dead}").trim() === "1");
  await expect(runtime.view(session, size)).rejects.toThrow("its agent is not running");
  expect(clients(world).length).toBeLessThanOrEqual(1);
});

test("[TERMINAL-47] an agent's clipboard and passthrough sequences do not reach a viewer", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const escape = String.raw`\033]52;c;aGVsbG8=\007\033Ptmux;\033\033]52;c;aGVsbG8=\007\033\\`;
  const { session } = await world.up(runtime, world.sessionOf({ start: printing(`${escape}shown`) }));
  const { view, shown } = await watch(runtime, session);
  await until("the screen", () => shown().includes("shown"));
  view.write(Buffer.from("live\r"));
  await until("what is live", () => shown().includes("live"));
  expect(shown()).not.toContain("]52;");
  expect(shown()).not.toContain("aGVsbG8");
});
