/** What one scenario tried and what the product did wrong, as a table and as JSON. */
import { performance } from "node:perf_hooks";
import { Random } from "./random.ts";

/** What was tried. */
export const tried = ["kills", "calls", "verbs", "prompts", "chunks", "checks"] as const;
export type Tried = (typeof tried)[number];

/**
 * These must stay 0. `lost`: bytes, chunks, accepted prompts or answers that are gone. `doubled`: two of what must be one.
 * `untrue`: an intent, receipt, status or stop reason that does not match the outside ledger. `left`: processes, files or
 * registrations that remain. `ended`: an agent or a daemon that stopped without a request.
 */
export const losses = ["lost", "doubled", "untrue", "left", "ended"] as const;
export type Loss = (typeof losses)[number];

export interface Finding {
  loss: Loss;
  text: string;
}

export type Outcome = "passed" | "failed" | "skipped" | "broken";

export interface Result {
  name: string;
  promise: string;
  outcome: Outcome;
  /** Why it was skipped, or what kept the driver from finishing. */
  note: string | null;
  seconds: number;
  tried: Record<Tried, number>;
  losses: Record<Loss, number>;
  findings: Finding[];
}

export interface Scenario {
  name: string;
  /** `storm`: random, runs for its share of the time. `fault`: one fixed sequence. */
  group: "storm" | "fault";
  promise: string;
  /** Of the time: by weight among storms, as a fraction for a fault that could take all of it. */
  share?: number;
  /** Only in runs of at least this many minutes, unless requested by name. */
  fromMinutes?: number;
  /** It mounts file systems, so it runs in a process with its own mount namespace; `pid` gets its own process ids too. */
  namespace?: "user" | "root" | "pid";
  /** Why it cannot run here, or null. */
  needs?: () => string | null;
  run: (run: Run) => Promise<void>;
}

/** With --fail-fast the first finding stops a scenario; its world is closed as always. */
export class EnoughFound extends Error {}

/** Findings of one kind repeat; the first ones are enough. */
const keptFindings = 40;

export class Run {
  readonly random: Random;
  readonly #name: string;
  readonly #endsAt: number;
  readonly #quiet: boolean;
  readonly #failFast: boolean;
  readonly tried = zeros(tried);
  readonly losses = zeros(losses);
  readonly findings: Finding[] = [];

  constructor(name: string, seed: number, milliseconds: number, quiet: boolean, failFast = false) {
    this.#failFast = failFast;
    this.#name = name;
    this.random = new Random(seed, name);
    this.#endsAt = performance.now() + milliseconds;
    this.#quiet = quiet;
  }

  get timeIsUp(): boolean {
    return performance.now() >= this.#endsAt;
  }

  count(what: Tried, by = 1): void {
    this.tried[what] += by;
  }

  bad(loss: Loss, text: string): void {
    this.losses[loss] += 1;
    if (this.findings.length < keptFindings) this.findings.push({ loss, text });
    this.say(`${loss}: ${text}`);
    if (this.#failFast) throw new EnoughFound(text);
  }

  /** Counts the check and reports it unless it holds. */
  check(holds: boolean, loss: Loss, text: string): boolean {
    this.count("checks");
    if (!holds) this.bad(loss, text);
    return holds;
  }

  say(text: string): void {
    if (!this.#quiet) console.log(`  ${this.#name}: ${text}`);
  }
}

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

export function table(results: readonly Result[]): string {
  const head = ["scenario", "s", ...tried, ...losses, "outcome"];
  const rows = results.map((one) => [
    one.name,
    one.seconds.toFixed(0),
    ...tried.map((name) => String(one.tried[name])),
    ...losses.map((name) => String(one.losses[name])),
    one.note === null ? one.outcome : `${one.outcome} (${one.note.split("\n")[0]!.slice(0, 80)})`,
  ]);
  const sum = (pick: (one: Result) => number): string =>
    String(Math.round(results.reduce((all, one) => all + pick(one), 0)));
  const total = [
    "all",
    sum(({ seconds }) => seconds),
    ...tried.map((name) => sum((one) => one.tried[name])),
    ...losses.map((name) => sum((one) => one.losses[name])),
    "",
  ];
  const all = [head, ...rows, total];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        column === 0 || column === head.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  const rule = "-".repeat(widths.reduce((all, width) => all + width + 2, -2));
  return [line(head), rule, ...rows.map(line), rule, line(total)].join("\n");
}
