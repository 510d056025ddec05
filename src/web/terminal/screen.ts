/**
 * An xterm and its add-ons, set up so that agent output stays inside: no clipboard, no titles, no links whose text hides
 * their address.
 */
import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { webAddress } from "../shared/ui/safe-text.ts";

/** The page's color tokens. */
const colors = {
  background: "var(--color-panel)",
  foreground: "var(--color-text)",
  cursor: "var(--color-accent)",
  cursorAccent: "var(--color-panel)",
  selectionBackground: "color-mix(in srgb, var(--color-accent) 35%, var(--color-panel))",
  selectionInactiveBackground: "color-mix(in srgb, var(--color-accent) 20%, var(--color-panel))",
  black: "var(--color-sunken)",
  red: "var(--color-danger)",
  green: "var(--color-good)",
  yellow: "var(--color-alert)",
  blue: "var(--color-busy)",
  magenta: "color-mix(in srgb, var(--color-danger) 55%, var(--color-busy))",
  cyan: "var(--color-accent)",
  white: "var(--color-dim)",
  brightBlack: "var(--color-dim)",
  brightRed: "var(--color-danger)",
  brightGreen: "var(--color-good)",
  brightYellow: "var(--color-alert)",
  brightBlue: "var(--color-busy)",
  brightMagenta: "color-mix(in srgb, var(--color-danger) 45%, var(--color-busy))",
  brightCyan: "var(--color-accent)",
  brightWhite: "var(--color-text)",
} satisfies ITheme;

/** Resolves the tokens with a probe element: they depend on the color scheme. */
function readTheme(parent: HTMLElement): ITheme {
  const probe = document.createElement("span");
  parent.append(probe);
  try {
    return Object.fromEntries(
      Object.entries(colors).map(([name, value]) => {
        probe.style.color = value;
        return [name, asHex(getComputedStyle(probe).color)];
      }),
    );
  } finally {
    probe.remove();
  }
}

/** Computed colors are `rgb(…)` or, if mixed, `color(srgb …)`, which xterm does not support. */
function asHex(computed: string): string {
  const numbers = computed.match(/[\d.]+/g)?.map(Number) ?? [];
  const scale = computed.startsWith("color(") ? 255 : 1;
  const channels = numbers.slice(0, 3).map((number) => Math.round(number * scale));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Escape sequences that reach beyond the screen: titles (0, 1, 2), hyperlinks (8), notifications (9, 777), clipboard (52). */
const inertCommands = [0, 1, 2, 8, 9, 52, 777];
/** Readable with low vision, whatever colors the agent picks. */
const minimumContrast = 4.5;

interface Screen {
  terminal: Terminal;
  /** Fits rows and columns to the available space. */
  fit: () => void;
  retheme: () => void;
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
  terminal.loadAddon(new WebLinksAddon((_event, address) => openExternally(address)));
  for (const command of inertCommands) terminal.parser.registerOscHandler(command, () => true);
  terminal.open(parent);
  void accelerate(terminal);
  return {
    terminal,
    fit: () => {
      // A hidden element cannot be measured.
      if (parent.clientWidth > 0 && parent.clientHeight > 0) fitting.fit();
    },
    retheme: () => {
      terminal.options.theme = readTheme(parent);
    },
  };
}

/** Uses WebGL if available; the default renderer is correct too, but slower. */
async function accelerate(terminal: Terminal): Promise<void> {
  try {
    const { WebglAddon } = await import("@xterm/addon-webgl");
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    terminal.loadAddon(addon);
  } catch {
    // No WebGL, or the view is already closed.
  }
}

function openExternally(text: string): void {
  const address = webAddress(text);
  if (address !== null) window.open(address, "_blank", "noopener,noreferrer");
}
