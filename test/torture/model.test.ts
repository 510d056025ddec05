import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fate, Request } from "./ledger.ts";
import { allowedFinals, covered } from "./model.ts";
import { editsOf, mutations } from "./mutations.ts";
import { Random } from "./random.ts";
import { scenarios } from "./scenarios.ts";

const root = join(import.meta.dirname, "../..");

function request(verb: string, from: number, to: number, fate: Fate = "ok"): Request {
  return { client: 0, verb, session: "ma-1", from, to, fate, error: null };
}

const finals = (...requests: Request[]): string[] => [...allowedFinals(requests)].sort();

test("[TORTURE-1] the later of two answered requests decides", () => {
  expect(finals(request("spawn", 0, 1), request("stop", 2, 3))).toEqual(["stopped"]);
  expect(finals(request("spawn", 0, 1), request("stop", 2, 3), request("restore", 4, 5))).toEqual(["running"]);
});

test("[TORTURE-1] requests that overlap may have taken effect in either order", () => {
  expect(finals(request("spawn", 0, 1), request("stop", 2, 6), request("archive", 3, 4))).toEqual([
    "archived",
    "stopped",
  ]);
});

test("[TORTURE-1] a request without a response may have had no effect, and a refused one had none", () => {
  expect(finals(request("spawn", 0, 1), request("kill", 2, 3, "cut"))).toEqual(["killed", "running"]);
  expect(finals(request("spawn", 0, 1), request("kill", 2, 3, "refused"))).toEqual(["running"]);
  expect(finals(request("spawn", 0, 1), request("convert", 2, 3, "cut"))).toEqual(["running"]);
});

test("[TORTURE-1] an answered delete decides over everything", () => {
  expect(finals(request("spawn", 0, 1), request("delete", 2, 3), request("restore", 2, 9, "cut"))).toEqual(["deleted"]);
});

test("[TORTURE-1] a session whose spawn was interrupted is running at first", () => {
  expect(finals(request("stop", 2, 3, "cut"))).toEqual(["running", "stopped"]);
  expect(finals(request("stop", 2, 3))).toEqual(["stopped"]);
});

test("[TORTURE-1] a killed session may leave that state only while a restore is under way", () => {
  const requests = [request("restore", 10, 20), request("restore", 30, 40, "refused")];
  expect(covered(requests, "restore", 15, 0)).toBe(true);
  expect(covered(requests, "restore", 35, 0)).toBe(false);
});

test("[TORTURE-2] every planted bug matches exactly one place in the sources and names a scenario", () => {
  const names = new Set(scenarios.map(({ name }) => name));
  const wrong = mutations.flatMap((mutation) => {
    const { name, scenario } = mutation;
    const misfits = editsOf(mutation).flatMap(({ file, search, replace }) => {
      const count = readFileSync(join(root, file), "utf8").split(search).length - 1;
      if (count !== 1) return [`${name}: its text occurs ${count} times in ${file}`];
      return search === replace ? [`${name}: changes nothing`] : [];
    });
    return names.has(scenario) ? misfits : [...misfits, `${name}: there is no scenario ${scenario}`];
  });
  expect(wrong).toEqual([]);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
  expect(mutations.length).toBeGreaterThanOrEqual(20);
});

test("[TORTURE-3] the same seed makes the same choices, whichever other scenarios run", () => {
  const choices = (seed: number, stream: string): number[] => {
    const random = new Random(seed, stream);
    return Array.from({ length: 20 }, () => random.next());
  };
  expect(choices(7, "chat")).toEqual(choices(7, "chat"));
  expect(choices(7, "chat")).not.toEqual(choices(7, "intents"));
  expect(choices(7, "chat")).not.toEqual(choices(8, "chat"));
  expect(choices(7, "chat").every((one) => one >= 0 && one < 1)).toBe(true);
});
