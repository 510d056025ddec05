/** Display settings of this browser. No session state. */
import { createStore, useStore } from "zustand";
import { readJson, store } from "./storage.ts";

export interface Preferences {
  theme: "system" | "light" | "dark";
  boardAs: "columns" | "list";
  sort: "activity" | "name" | "created";
  /** Null for all. */
  project: string | null;
  showEnded: boolean;
  notify: boolean;
  /** The daemon's id of this browser's push subscription. */
  push: string | null;
  sound: boolean;
  /** What Enter does in a prompt; `auto`: sends, but inserts a new line on touch screens. */
  enter: "auto" | "sends" | "newline";
  /** Whether clicks in a terminal go to the agent; otherwise they select text. */
  terminalMouse: boolean;
  /** Whether a terminal's screen is also rendered as text for screen readers. */
  terminalReader: boolean;
  diffAs: "unified" | "split";
}

const key = "holdfast:preferences:v1";
const defaults: Preferences = {
  theme: "system",
  boardAs: "columns",
  sort: "activity",
  project: null,
  showEnded: true,
  notify: false,
  push: null,
  sound: false,
  enter: "auto",
  terminalMouse: false,
  terminalReader: false,
  diffAs: "unified",
};

export const preferences = createStore<Preferences>(() => ({
  ...defaults,
  ...(readJson(key) as Partial<Preferences> | null),
}));

preferences.subscribe((state) => void store(key, JSON.stringify(state)));
preferences.subscribe(applyTheme);
applyTheme(preferences.getState());

export function usePreference<K extends keyof Preferences>(name: K): [Preferences[K], (value: Preferences[K]) => void] {
  const value = useStore(preferences, (state) => state[name]);
  return [value, (next) => preferences.setState({ [name]: next } as Partial<Preferences>)];
}

function applyTheme({ theme }: Preferences): void {
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
}
