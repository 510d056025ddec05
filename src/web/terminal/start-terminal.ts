/** Connects a screen to its session and keeps both in sync with the page: size, colors, visibility, reconnects. */
import type { Terminal } from "@xterm/xterm";
import { wake } from "../shared/data/connect.ts";
import { prove } from "../shared/data/api.ts";
import { onReconnect } from "../shared/data/live.ts";
import { toClipboard } from "../shared/ui/code-text.tsx";
import { preferences } from "../shared/data/preferences.ts";
import { connectTerminal, type LineState, type TerminalLine } from "./connection.ts";
import { openScreen } from "./screen.ts";

interface TerminalOptions {
  parent: HTMLElement;
  session: string;
  onState: (state: LineState) => void;
  onSelection: (some: boolean) => void;
  /** Tab goes to the agent, so the keyboard needs another way out. */
  onLeave: () => void;
  onSearch: () => void;
}

export interface RunningTerminal {
  terminal: Terminal;
  line: TerminalLine;
  input: {
    /** Whether clicks go to the agent. */
    mouse: boolean;
    /** Transforms input before it is sent. */
    filter: ((text: string) => string) | null;
  };
  close(): void;
}

const phoneFontSize = 12;
const fontSize = 13;

export function startTerminal(options: TerminalOptions): RunningTerminal {
  const { parent } = options;
  const small = matchMedia("(max-width: 640px)").matches;
  const screen = openScreen(parent, { fontSize: small ? phoneFontSize : fontSize });
  const { terminal } = screen;
  const input: RunningTerminal["input"] = { mouse: false, filter: null };
  screen.fit();

  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const line = connectTerminal({
    origin: `${scheme}://${location.host}`,
    session: options.session,
    prove,
    socket: WebSocket,
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    readonly: false,
    onBytes: (bytes) => terminal.write(bytes),
    onAttached: () => {
      // The daemon responds: the event stream need not wait either.
      wake();
      // tmux repaints everything on attach: the old screen must not show through.
      terminal.reset();
      // Ready to type; but on a phone, focus would open the keyboard.
      if (document.activeElement === document.body && !matchMedia("(pointer: coarse)").matches) terminal.focus();
    },
    onState: options.onState,
  });

  const send = (text: string): void => void line.type(new TextEncoder().encode(text));
  terminal.onData((text) => send(input.filter === null ? text : input.filter(text)));
  // Legacy mouse reports contain bytes that are not UTF-8.
  terminal.onBinary((text) => void line.type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  terminal.onSelectionChange(() => options.onSelection(terminal.hasSelection()));
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) return true;
    const act = shortcuts[event.code];
    if (act === undefined) return true;
    event.preventDefault();
    act();
    return false;
  });
  const shortcuts: Record<string, () => void> = {
    KeyC: () => {
      if (terminal.hasSelection()) void toClipboard(terminal.getSelection());
    },
    KeyF: options.onSearch,
    KeyL: options.onLeave,
  };

  const stops = [
    selectByMouse(parent, () => !input.mouse),
    watchSize(parent, () => {
      screen.fit();
      line.resize();
    }),
    preferences.subscribe(() => requestAnimationFrame(screen.retheme)),
    watchScheme(screen.retheme),
    // The daemon is back: no need to wait for the next attempt.
    onReconnect(() => line.wake()),
  ];

  const close = (): void => {
    for (const stop of stops) stop();
    line.close();
    terminal.dispose();
  };
  return { terminal, line, input, close };
}

/** At most once per frame: a window being resized changes all the time. */
function watchSize(element: HTMLElement, act: () => void): () => void {
  let frame = 0;
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(act);
  });
  observer.observe(element);
  return () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
  };
}

function watchScheme(act: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", act);
  return () => dark.removeEventListener("change", act);
}

/**
 * tmux captures the mouse for scrolling; a drag would then select inside tmux, out of the browser's reach. xterm selects
 * while Shift is held, so a plain press is passed to it with Shift.
 */
function selectByMouse(element: HTMLElement, isEnabled: () => boolean): () => void {
  const onDown = (event: MouseEvent): void => {
    if (!event.isTrusted || event.shiftKey || event.button !== 0 || !isEnabled()) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    event.target?.dispatchEvent(
      new MouseEvent("mousedown", {
        bubbles: true,
        cancelable: true,
        composed: true,
        view: window,
        detail: event.detail,
        clientX: event.clientX,
        clientY: event.clientY,
        screenX: event.screenX,
        screenY: event.screenY,
        button: event.button,
        buttons: event.buttons,
        shiftKey: true,
        ctrlKey: event.ctrlKey,
        altKey: event.altKey,
        metaKey: event.metaKey,
      }),
    );
  };
  element.addEventListener("mousedown", onDown, true);
  return () => element.removeEventListener("mousedown", onDown, true);
}
