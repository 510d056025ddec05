/**
 * An xterm and its add-ons, set up so that what an agent prints stays inside: no clipboard, no titles, no links whose
 * text hides where they lead.
 */
import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { webAddress } from "../shared/ui/web-address.ts";
import { readTheme } from "./theme.ts";

/** Operating system commands that reach beyond the screen: titles (0, 1, 2), hyperlinks (8), notes (9, 777), clipboard (52). */
const inertCommands = [0, 1, 2, 8, 9, 52, 777];
/** What people with poor sight can still read, whatever colours the agent picks. */
const minimumContrast = 4.5;

export interface Screen {
  terminal: Terminal;
  /** As many rows and columns as there is room for. */
  fit: () => void;
  retheme: () => void;
  dispose: () => void;
}

export function openScreen(parent: HTMLElement, { fontSize }: { fontSize: number }): Screen {
  const terminal = new Terminal({
    allowProposedApi: true,
    cursorBlink: false,
    fontFamily: getComputedStyle(parent).fontFamily,
    fontSize,
    lineHeight: 1.1,
    minimumContrastRatio: minimumContrast,
    theme: readTheme(parent),
    // tmux keeps the history.
    scrollback: 0,
    macOptionIsMeta: true,
    disableStdin: true,
  });
  const fitting = new FitAddon();
  terminal.loadAddon(fitting);
  terminal.loadAddon(new UnicodeGraphemesAddon());
  terminal.loadAddon(new WebLinksAddon((_event, address) => openOutside(address)));
  for (const command of inertCommands) terminal.parser.registerOscHandler(command, () => true);
  terminal.open(parent);
  void accelerate(terminal);
  return {
    terminal,
    fit: () => {
      // Nothing is measured in a tab that is not shown.
      if (parent.clientWidth > 0 && parent.clientHeight > 0) fitting.fit();
    },
    retheme: () => {
      terminal.options.theme = readTheme(parent);
    },
    dispose: () => terminal.dispose(),
  };
}

/** Drawn by the graphics card where there is one; the browser's own drawing is right too, and slower. */
async function accelerate(terminal: Terminal): Promise<void> {
  try {
    const { WebglAddon } = await import("@xterm/addon-webgl");
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    terminal.loadAddon(addon);
  } catch {
    // No WebGL here, or the view is closed already.
  }
}

function openOutside(text: string): void {
  const address = webAddress(text);
  if (address !== null) window.open(address, "_blank", "noopener,noreferrer");
}
