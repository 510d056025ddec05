/** Keys that a phone's keyboard does not have, as terminals send them. */
export const keyNames = ["esc", "tab", "ctrl", "up", "down", "left", "right", "ctrl-c", "enter"] as const;
export type KeyName = (typeof keyNames)[number];

const arrows: Partial<Record<KeyName, string>> = { up: "A", down: "B", right: "C", left: "D" };

/** @param application whether the program asked for the other form of arrow keys. */
export function keyBytes(key: Exclude<KeyName, "ctrl">, application: boolean): string {
  const arrow = arrows[key];
  if (arrow !== undefined) return `${application ? "\u001bO" : "\u001b["}${arrow}`;
  if (key === "esc") return "\u001b";
  if (key === "tab") return "\t";
  if (key === "ctrl-c") return "\u0003";
  return "\r";
}

/** The letter with Ctrl held; anything that has no such form comes back as it is. */
export function withCtrl(text: string): string {
  if (text.length !== 1) return text;
  const code = text.toUpperCase().charCodeAt(0);
  if (text === " ") return "\u0000";
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code - 0x40) : text;
}
