/** A readable name for this browser, such as "Firefox on Linux". */

const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bChromium\//, "Chromium"],
  [/\b(Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac(intosh| OS X)\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

export function browserName(agent = navigator.userAgent, touch = isAppleTouch()): string {
  const find = (list: [RegExp, string][]): string | undefined => list.find(([shape]) => shape.test(agent))?.[1];
  const system = find(systems);
  // An iPad identifies itself as a Mac.
  const where = system === "macOS" && touch ? "iPad" : system;
  return [find(browsers) ?? "A browser", ...(where === undefined ? [] : [`on ${where}`])].join(" ");
}

/** An iPhone or iPad, where every browser uses Apple's engine. */
export function isAppleTouch(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return /iPhone|iPad/.test(userAgent) || (userAgent.includes("Macintosh") && maxTouchPoints > 1);
}
