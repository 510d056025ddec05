/** A terminal session: its live screen with tools and phone keys, or the last lines of an ended one. */
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Copy, Eye, EyeOff, MousePointer2, ScrollText, Settings2 } from "lucide-react";
import type { SessionJson } from "../../contract/session.ts";
import { toClipboard } from "../shared/ui/code-text.tsx";
import { usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { Menu, MenuItem } from "../shared/ui/menu.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { KeyBar, keyBytes, withCtrl, type KeyName } from "./key-bar.tsx";
import type { LineState } from "./connection.ts";
import { Scrollback } from "./scrollback.tsx";
import { startTerminal, type RunningTerminal } from "./start-terminal.ts";
import { Spinner } from "../shared/ui/loading.tsx";
import { visibleText } from "../shared/ui/safe-text.ts";

function LiveTerminal({ session }: { session: SessionJson }) {
  const parent = useRef<HTMLDivElement>(null);
  const running = useRef<RunningTerminal | null>(null);
  const tools = useRef<HTMLButtonElement>(null);
  const [state, setState] = useState<LineState>({ is: "connecting" });
  const [selected, setSelected] = useState(false);
  const [ctrl, setCtrl] = useState(false);
  const [history, setHistory] = useState(false);
  const [mouse, setMouse] = usePreference("terminalMouse");
  const [reader, setReader] = usePreference("terminalReader");
  const readonly = state.is === "attached" && state.readonly;
  const typing = state.is === "attached" && !state.readonly;

  useEffect(() => {
    const terminal = startTerminal({
      parent: parent.current!,
      session: session.id,
      onState: setState,
      onSelection: setSelected,
      onLeave: () => tools.current?.focus(),
      onSearch: () => setHistory(true),
    });
    running.current = terminal;
    return () => {
      running.current = null;
      terminal.close();
    };
  }, [session.id]);
  useEffect(() => {
    if (running.current === null) return;
    const { terminal, input } = running.current;
    terminal.options.screenReaderMode = reader;
    input.mouse = mouse;
    input.filter = ctrl ? withCtrlOnce(() => setCtrl(false)) : null;
  }, [mouse, reader, ctrl]);
  // Together with the status text: input in between would be lost.
  useLayoutEffect(() => {
    if (running.current !== null) running.current.terminal.options.disableStdin = !typing;
  }, [typing]);

  const copy = async (): Promise<void> => {
    const text = running.current?.terminal.getSelection() ?? "";
    if (text === "") return;
    if (await toClipboard(text)) showToast("Copied.");
    else showToast("The browser blocked access to the clipboard. Use its context menu on the selection.", "fault");
  };
  const press = async (key: KeyName | "paste"): Promise<void> => {
    if (key === "ctrl") return setCtrl(!ctrl);
    const terminal = running.current?.terminal;
    if (key !== "paste") return terminal?.input(keyBytes(key, terminal.modes.applicationCursorKeysMode), true);
    try {
      terminal?.paste(await navigator.clipboard.readText());
    } catch {
      showToast("The browser blocked access to the clipboard. Long-press the screen and choose Paste.", "fault");
    }
    return undefined;
  };

  return (
    <div className="absolute inset-0 flex flex-col bg-panel">
      <div
        role="toolbar"
        aria-label="Terminal"
        className="flex shrink-0 flex-wrap items-center justify-end gap-x-1 border-b border-line px-2 py-0.5"
      >
        <p
          role="status"
          aria-live="polite"
          className="min-w-0 flex-1 basis-64 truncate px-1 text-xs text-dim max-sm:basis-full max-sm:py-1 max-sm:whitespace-normal"
        >
          {statusText(state)}
        </p>
        {state.is === "waiting" && (
          <Button size="small" onClick={() => running.current?.line.wake()}>
            Try now
          </Button>
        )}
        <Button size="small" variant="quiet" disabled={!selected} onClick={() => void copy()}>
          <Copy size={14} aria-hidden /> Copy
        </Button>
        <Button ref={tools} size="small" variant="quiet" onClick={() => setHistory(true)}>
          <ScrollText size={14} aria-hidden /> History
        </Button>
        <Button
          size="small"
          variant="quiet"
          aria-pressed={readonly}
          disabled={state.is !== "attached" || state.forced}
          onClick={() => running.current?.line.setReadonly(!readonly)}
        >
          {readonly ? <EyeOff size={14} aria-hidden /> : <Eye size={14} aria-hidden />} Read-only
        </Button>
        <Menu
          button={
            <Button size="small" variant="quiet" aria-label="Terminal options" title="Terminal options">
              <Settings2 size={14} aria-hidden />
            </Button>
          }
        >
          <MenuItem
            note={mouse ? "Drag with Shift to select text." : "Drag selects text; the wheel scrolls."}
            onSelect={() => setMouse(!mouse)}
          >
            <MousePointer2 size={14} aria-hidden />{" "}
            {mouse ? "Use the mouse to select text" : "Send the mouse to the agent"}
          </MenuItem>
          <MenuItem note="Also renders the screen as text, line by line." onSelect={() => setReader(!reader)}>
            <ScrollText size={14} aria-hidden /> {reader ? "Turn off screen reader mode" : "Turn on screen reader mode"}
          </MenuItem>
        </Menu>
      </div>
      <div className="relative min-h-0 flex-1">
        <div
          ref={parent}
          role="group"
          aria-label={`Screen of ${session.id}. Ctrl+Shift+L leaves it.`}
          className="absolute inset-1 overflow-hidden font-mono"
          // tmux scrolls back on the wheel; in read-only mode nothing is sent, so the history opens instead.
          onWheelCapture={(event) => {
            if (readonly && event.deltaY < 0) setHistory(true);
          }}
        />
        {state.is !== "attached" && <div aria-hidden className="pointer-events-none absolute inset-0 bg-page/50" />}
        {history && <Scrollback session={session.id} onClose={() => setHistory(false)} />}
      </div>
      <KeyBar disabled={!typing} ctrl={ctrl} onKey={(key) => void press(key)} />
    </div>
  );
}

function statusText(state: LineState): string {
  switch (state.is) {
    case "attached":
      if (state.forced) return "This daemon is read-only, or this device may only watch: your input is not sent.";
      return state.readonly ? "Read-only: your input is not sent." : "Attached: your input goes to the agent.";
    case "connecting":
      return "Connecting; typing is off.";
    case "detached":
      return `${state.reason} Typing is off. Reconnecting automatically.`;
    case "waiting":
      return "Disconnected; typing is off. Reconnecting automatically.";
    default:
      state satisfies never;
      return "";
  }
}

function withCtrlOnce(used: () => void): (text: string) => string {
  return (text) => {
    used();
    return withCtrl(text);
  };
}

export default function TerminalView({ session }: { session: SessionJson }) {
  // Only a running session can be attached. An ended screen is not requested until the agent starts again.
  if (session.attach !== null) return <LiveTerminal session={session} />;
  if (session.status === "starting" || (session.intent.want === "running" && session.end === null)) {
    return <Spinner label="Starting the agent" />;
  }
  return <LastLines session={session} />;
}

function LastLines({ session }: { session: SessionJson }) {
  const lines = session.end?.lastLines ?? [];
  return (
    <div className="absolute inset-0 flex flex-col gap-2 overflow-auto p-3 sm:p-4">
      <p className="text-dim">
        {lines.length === 0
          ? "No screen output was recorded. You can type here once it runs again."
          : "The last lines of its screen. You can type here once it runs again."}
      </p>
      {lines.length > 0 && (
        <pre tabIndex={0} aria-label="Last lines" className="overflow-auto rounded-md bg-sunken p-3 font-mono text-xs">
          {visibleText(lines.join("\n"))}
        </pre>
      )}
    </div>
  );
}
