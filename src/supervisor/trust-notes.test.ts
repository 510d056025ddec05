import { expect, test } from "vitest";
import type { TrustState } from "../contract/trust.ts";
import { trustNotes } from "./trust-answers.ts";

type Given = Record<string, { state: TrustState; digest: string | null; parts?: number } | null>;

async function notesOf(given: Given): Promise<string[]> {
  const parts = {
    store: { projects: () => Object.keys(given).map((id) => ({ id })) },
    settings: { last: (id: string) => (given[id] == null ? null : { trust: given[id] }) },
    projects: {
      trustOf: async ({ id }: { id: string }) => ({
        file: id,
        digest: "d",
        parts: Array.from({ length: given[id]?.parts ?? 0 }, () => ({})),
      }),
    },
    trust: { stateOf: () => "undecided" },
  };
  return await trustNotes(parts as unknown as Parameters<typeof trustNotes>[0]);
}

test("[TRUST-12, TRUST-14] a start names the projects that wait for trust, and no others", async () => {
  const settled: Given = {
    plain: { state: "none", digest: null },
    yes: { state: "trusted", digest: "d" },
    no: { state: "declined", digest: "d" },
    unread: null,
    // Kept by an earlier build, with nothing in its file that needs trust.
    harmless: { state: "undecided", digest: null, parts: 0 },
  };
  expect(await notesOf(settled)).toEqual([]);
  const old: Given = { ...settled, old: { state: "undecided", digest: null, parts: 1 } };
  expect(await notesOf(old)).toEqual(["1 project needs your trust: holdfast project trust old"]);
  expect(await notesOf({ ...old, app: { state: "changed", digest: "d" } })).toEqual([
    "2 projects need your trust (old, app): holdfast project trust <id>",
  ]);
});
