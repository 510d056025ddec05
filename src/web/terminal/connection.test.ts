import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connectTerminal, type LineState, type TerminalSocket } from "./connection.ts";

/** What a test says in the daemon's place. */
class FakeSocket implements TerminalSocket {
  static readonly all: FakeSocket[] = [];
  binaryType = "";
  readonly sent: (string | Uint8Array)[] = [];
  closed = false;
  readonly #listeners: Record<string, ((event: { data: unknown }) => void)[]> = {};
  readonly url: string;
  readonly protocols: string[];

  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.all.push(this);
  }

  addEventListener(type: string, listener: (event: { data: unknown }) => void): void {
    (this.#listeners[type] ??= []).push(listener);
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.closed = true;
  }

  tell(type: "message" | "close", data: unknown = null): void {
    for (const listener of this.#listeners[type] ?? []) listener({ data });
  }

  attach(readonly = false): void {
    this.tell("message", JSON.stringify({ type: "attached", launch: "l", readonly }));
  }
}

beforeEach(() => {
  FakeSocket.all.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const states: LineState["is"][] = [];
  const painted: number[] = [];
  let attached = 0;
  const line = connectTerminal({
    origin: "ws://here",
    session: "ma-1",
    socket: FakeSocket,
    size: () => ({ cols: 80, rows: 24 }),
    readonly: false,
    onBytes: (bytes) => void painted.push(...bytes),
    onAttached: () => attached++,
    onState: (state) => void states.push(state.is),
    random: () => 1,
  });
  return { line, states, painted, attachedTimes: () => attached };
}

const typed = new TextEncoder().encode("x");
const last = (): FakeSocket => FakeSocket.all.at(-1)!;

test("[WEB-42] input is sent only while attached, and not when read-only", () => {
  const { line, painted } = open();
  expect(last().url).toBe("ws://here/api/sessions/ma-1/terminal?cols=80&rows=24");
  expect(line.type(typed)).toBe(false);
  last().tell("message", new Uint8Array([1]).buffer);
  expect(painted).toEqual([]);
  last().attach();
  expect(line.type(typed)).toBe(true);
  last().tell("message", new Uint8Array([2]).buffer);
  expect(painted).toEqual([2]);
  line.setReadonly(true);
  expect(line.type(typed)).toBe(false);
  expect(last().sent).toEqual([typed, JSON.stringify({ type: "readonly", on: true })]);
  line.setReadonly(false);
  last().tell("message", JSON.stringify({ type: "detached", reason: "The agent ended." }));
  expect(line.type(typed)).toBe(false);
  line.close();
});

test("[WEB-42] if the daemon forces read-only, nothing is sent", () => {
  const { line } = open();
  last().attach(true);
  line.setReadonly(false);
  expect(line.type(typed)).toBe(false);
  line.close();
});

test("[WEB-42] a lost connection retries with backoff; a dropped socket is ignored", () => {
  const { line, states, attachedTimes, painted } = open();
  const first = last();
  first.attach();
  first.tell("close");
  expect(states).toEqual(["connecting", "attached", "waiting"]);
  vi.advanceTimersByTime(300);
  expect(FakeSocket.all.length).toBe(2);
  first.tell("message", new Uint8Array([9]).buffer);
  first.attach();
  expect([painted, attachedTimes()]).toEqual([[], 1]);
  last().tell("close");
  vi.advanceTimersByTime(300);
  expect(FakeSocket.all.length).toBe(2);
  vi.advanceTimersByTime(300);
  expect(FakeSocket.all.length).toBe(3);
  last().tell("close");
  line.wake();
  expect(FakeSocket.all.length).toBe(4);
  last().attach();
  expect(attachedTimes()).toBe(2);
  line.close();
  last().tell("close");
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all.length).toBe(4);
});

test("[WEB-42] a connection that never attaches is retried, with read-only requested again", () => {
  const { line, states } = open();
  last().attach();
  line.setReadonly(true);
  last().tell("close");
  vi.advanceTimersByTime(300);
  expect(last().url).toContain("readonly=1");
  vi.advanceTimersByTime(15_000);
  expect(states.at(-1)).toBe("waiting");
  line.close();
});
