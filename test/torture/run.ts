/**
 * `npm run torture [-- --seed N --minutes M --only NAME[,NAME] --json FILE --jobs N --quiet]`: runs the scenarios against
 * the built product in their own homes, prints one table and writes JSON. Exits 1 unless every loss column is 0.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { homePrefix, homesDirectory } from "../harness/home.ts";
import { markedProcesses, endMarked } from "../harness/marked.ts";
import { Random } from "./random.ts";
import { EnoughFound, Run, losses, table, type Outcome, type Result, type Scenario } from "./report.ts";
import { scenarios } from "./scenarios.ts";
import { withoutStrace } from "./strace.ts";

const mark = (run: string): string => `HOLDFAST_TEST_RUN=${run}`;
/** The first process of a pid namespace inherits orphans; a dead one that it does not reap keeps its pid. */
const reaper = '"$@" & wait $!';
/** From here on the faults finish early, and kills inside system calls get their own lane for the entire time. */
const longMinutes = 30;
/** How much longer than its time a run may start faults, as a fraction: on a busy machine they take twice as long. */
const grace = 0.25;
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "4" },
    only: { type: "string" },
    json: { type: "string", default: join(import.meta.dirname, "../../.cache/torture.json") },
    jobs: { type: "string", default: "3" },
    quiet: { type: "boolean", default: false },
    "fail-fast": { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(values.minutes);
if (!Number.isInteger(seed) || !(minutes > 0))
  throw new Error("--seed must be an integer and --minutes a positive number");
const names = values.only?.split(",");
const unknown = (names ?? []).filter((name) => !scenarios.some((one) => one.name === name || one.group === name));
if (unknown.length > 0)
  throw new Error(`no scenario ${unknown.join(", ")}; there are ${scenarios.map(({ name }) => name).join(", ")}`);

const chosen = scenarios.filter(
  ({ name, group, fromMinutes = 0 }) =>
    (names === undefined && (minutes >= fromMinutes || values.list)) ||
    names?.includes(name) === true ||
    names?.includes(group) === true,
);
if (values.list) {
  for (const { name, group, promise } of chosen) console.log(`${name.padEnd(18)} ${group.padEnd(6)} ${promise}`);
} else await torture();

async function torture(): Promise<void> {
  const run = process.env["TORTURE_INSIDE"] === undefined ? randomUUID() : `in-${randomUUID()}`;
  process.env["HOLDFAST_TEST_RUN"] = run;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void giveUp(run));
  console.log(`Torture: --seed ${seed} --minutes ${minutes}, ${chosen.length} scenarios`);
  const startedAt = new Date().toISOString();
  const results = await runAll(chosen);
  const left = await census(run);
  results.push(left);
  console.log(table(results));
  for (const { name, findings, note, outcome } of results) {
    if (outcome === "broken") console.log(`\n${name} could not be finished: ${note ?? ""}`);
    for (const { loss, text } of findings) console.log(`  ${name} ${loss}: ${text}`);
  }
  const json = { seed, minutes, startedAt, results };
  try {
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify(json, null, 2)}\n`);
  } catch {
    console.log(`The report could not be written to ${values.json}.`);
  }
  const count = (outcome: Outcome): number => results.filter((one) => one.outcome === outcome).length;
  const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
  console.log(
    `torture: ${count("passed")} passed, ${count("failed") + count("broken")} failed${skipped} (--seed ${seed})`,
  );
  process.exitCode = count("failed") + count("broken") > 0 ? 1 : 0;
}

/**
 * Storms share the time of their lane by weight; each gets what earlier ones left. Faults run in the other lanes,
 * in an order chosen by the seed.
 */
async function runAll(all: readonly Scenario[]): Promise<Result[]> {
  const total = minutes * 60_000;
  const deadline = performance.now() + total;
  const storms = all.filter(({ group }) => group === "storm");
  const faults = new Random(seed, "order").shuffled(all.filter(({ group }) => group === "fault"));
  const results = new Map<string, Result>();
  const stormLane = async (own: readonly Scenario[]): Promise<void> => {
    for (const [at, one] of own.entries()) {
      const shares = own.slice(at).reduce((sum, { share = 1 }) => sum + share, 0);
      const left = Math.max(0, deadline - performance.now());
      results.set(one.name, await runOne(one, (left * (one.share ?? 1)) / shares));
    }
  };
  const faultLane = async (): Promise<void> => {
    for (let one = faults.shift(); one !== undefined; one = faults.shift()) {
      const late = performance.now() > deadline + grace * total && names === undefined;
      results.set(one.name, late ? notRun(one, "the time was up") : await runOne(one, total * (one.share ?? 1)));
    }
  };
  const jobs = Math.max(1, Number(values.jobs));
  const apart = storms.filter(({ needs }) => needs === withoutStrace);
  const isSplit = minutes >= longMinutes && jobs > 2 && apart.length > 0 && apart.length < storms.length;
  const lanes = isSplit ? [storms.filter((one) => !apart.includes(one)), apart] : [storms];
  if (jobs === 1 || storms.length === 0) {
    await stormLane(storms);
    await Promise.all(Array.from({ length: jobs }, faultLane));
  } else {
    const others = Array.from({ length: jobs - lanes.length }, faultLane);
    await Promise.all([...lanes.map((lane) => stormLane(lane).then(faultLane)), ...others]);
  }
  return all.map(({ name }) => results.get(name)!);
}

function notRun(one: Scenario, why: string): Result {
  const { tried, losses } = new Run(one.name, seed, 0, true);
  return {
    name: one.name,
    promise: one.promise,
    outcome: "skipped",
    note: why,
    seconds: 0,
    tried,
    losses,
    findings: [],
  };
}

async function runOne(one: Scenario, milliseconds: number): Promise<Result> {
  const why = one.needs?.() ?? null;
  if (why !== null) return notRun(one, why);
  if (one.namespace !== undefined && process.env["TORTURE_INSIDE"] === undefined) return runInside(one);
  const began = performance.now();
  const run = new Run(one.name, seed, milliseconds, values.quiet, values["fail-fast"]);
  let note: string | null = null;
  try {
    await one.run(run);
  } catch (error) {
    note = explain(run, error);
  }
  const failed = losses.some((loss) => run.losses[loss] > 0);
  const outcome: Outcome = failed ? "failed" : note === null ? "passed" : "broken";
  const seconds = (performance.now() - began) / 1000;
  if (!values.quiet) console.log(`  ${one.name}: ${outcome} after ${seconds.toFixed(0)} s`);
  const { tried, findings } = run;
  return { name: one.name, promise: one.promise, outcome, note, seconds, tried, losses: run.losses, findings };
}

/** What kept the driver from finishing, or null; problems reported when a home is closed are the product's. */
function explain(run: Run, error: unknown): string | null {
  if (error instanceof SuppressedError) return explain(run, error.suppressed) ?? explain(run, error.error);
  if (error instanceof EnoughFound) return null;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (!/^Error: left (behind|running)/.test(text)) return text;
  run.losses.left += 1;
  run.findings.push({ loss: "left", text: text.split("\n")[0]! });
  return null;
}

/** The same scenario in a process with its own mount namespace; its mounts go with it. */
async function runInside(one: Scenario): Promise<Result> {
  const file = join(tmpdir(), `torture-${randomUUID()}.json`);
  const own = { user: ["-rm"], root: ["-m"], pid: ["-mpf", "--mount-proc", "sh", "-c", reaper, "sh"] }[
    one.namespace ?? "root"
  ];
  const args = [
    ...own,
    process.execPath,
    import.meta.filename,
    "--only",
    one.name,
    "--seed",
    String(seed),
    "--minutes",
    String(minutes),
  ];
  const child = spawn("unshare", [...args, "--json", file, "--quiet"], {
    env: { ...process.env, TORTURE_INSIDE: "1" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(child, "exit");
  try {
    const { results } = JSON.parse(readFileSync(file, "utf8")) as { results: Result[] };
    const [result, left] = results;
    if (result === undefined) throw new Error("no result");
    for (const loss of losses) result.losses[loss] += left?.losses[loss] ?? 0;
    result.findings.push(...(left?.findings ?? []));
    if (result.outcome === "passed" && left?.outcome === "failed") result.outcome = "failed";
    if (!values.quiet) console.log(`  ${one.name}: ${result.outcome} after ${result.seconds.toFixed(0)} s`);
    return result;
  } catch (error) {
    return { ...notRun(one, String(error)), outcome: "broken" };
  } finally {
    rmSync(file, { force: true });
  }
}

/** Interrupted: stops and removes what this run created, and nothing else. */
async function giveUp(run: string): Promise<never> {
  for (let processes = markedProcesses(mark(run)); processes.length > 0; processes = markedProcesses(mark(run)))
    await endMarked(processes);
  for (const home of homesOf(run)) rmSync(home, { recursive: true, force: true });
  process.exit(130);
}

function homesOf(run: string): string[] {
  const names = readdirSync(homesDirectory).filter((name) => name.startsWith(homePrefix(run)));
  return names.map((name) => join(homesDirectory, name));
}

/** Nothing of this run may be alive or on disk at the end. */
async function census(run: string): Promise<Result> {
  const self = new Run("census", seed, 0, true);
  const processes = markedProcesses(mark(run));
  for (const { pid, what } of processes) self.bad("left", `process ${pid}: ${what}`);
  for (const home of homesOf(run)) self.bad("left", home);
  await endMarked(processes);
  const { tried, losses, findings } = self;
  const outcome = findings.length > 0 ? "failed" : "passed";
  return {
    name: "census",
    promise: "nothing is left behind",
    outcome,
    note: null,
    seconds: 0,
    tried,
    losses,
    findings,
  };
}
