/**
 * The terminal's colours from the page's tokens. They are written for two schemes at once, so an element is asked what
 * they come to now.
 */
import type { ITheme } from "@xterm/xterm";

const colours: Record<keyof Colours, string> = {
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
};

type Colours = Pick<
  ITheme,
  | "background"
  | "foreground"
  | "cursor"
  | "cursorAccent"
  | "selectionBackground"
  | "selectionInactiveBackground"
  | "black"
  | "red"
  | "green"
  | "yellow"
  | "blue"
  | "magenta"
  | "cyan"
  | "white"
  | "brightBlack"
  | "brightRed"
  | "brightGreen"
  | "brightYellow"
  | "brightBlue"
  | "brightMagenta"
  | "brightCyan"
  | "brightWhite"
>;

export function readTheme(beside: HTMLElement): ITheme {
  const probe = document.createElement("span");
  beside.append(probe);
  try {
    return Object.fromEntries(
      Object.entries(colours).map(([name, value]) => {
        probe.style.color = value;
        return [name, asHex(getComputedStyle(probe).color)];
      }),
    );
  } finally {
    probe.remove();
  }
}

/** Computed colours come as `rgb(…)` or, once mixed, as `color(srgb …)`, which the terminal does not read. */
function asHex(computed: string): string {
  const numbers = computed.match(/[\d.]+/g)?.map(Number) ?? [];
  const scale = computed.startsWith("color(") ? 255 : 1;
  const channels = numbers.slice(0, 3).map((number) => Math.round(number * scale));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
