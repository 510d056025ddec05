import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../..");

/** What loading a file loads with it: its imports that are not types and not made later, and theirs. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  const name = relative(source, file);
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(file, "utf8");
  for (const match of text.matchAll(/^(?:import|export)\s+(?!type\b)[^;"(]*?(?:from\s*)?"(\.[^"]+\.ts)"/gm)) {
    loadedWith(resolve(dirname(file), match[1]!), found);
  }
  return found;
}

test("[TRACKER-38] a starting daemon loads nothing that polls trackers, reacts or notifies", () => {
  const loaded = [...loadedWith(join(source, "daemon/main.ts"))];
  expect(loaded.filter((name) => name.startsWith("integrations/")).toSorted()).toEqual([
    "integrations/notifiers/lazy-push.ts",
    "integrations/reactions/polling.ts",
    "integrations/trackers/lazy-tracking.ts",
  ]);
  expect(
    loaded.filter((name) => /^(config\/schema|api\/(claim|cleanup)|model\/(merge-check|issue-prompt))\.ts$/.test(name)),
  ).toEqual([]);
});
