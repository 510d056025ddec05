/**
 * `npm run torture:mutations [-- --only NAME[,NAME] --jobs N --seed N --no-baseline]`: plants one bug after the other in a
 * scratch copy of the sources and runs the scenario that must turn red. Exits 1 unless every mutation is found.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { editsOf, mutations, type Mutation } from "./mutations.ts";
import type { Result } from "./report.ts";

const root = join(import.meta.dirname, "../..");
/** For faults, which finish earlier; storms set their own time. */
const defaultMinutes = 20;
/** A scenario that hangs proves nothing. */
const longestMs = 6 * 60_000;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    jobs: { type: "string", default: "2" },
    seed: { type: "string", default: "1" },
    baseline: { type: "boolean", default: true },
    json: { type: "string" },
  },
  allowNegative: true,
});

type Verdict = { verdict: "red" | "green" | "broken" | "no anchor" | "no build"; text: string; seconds: number };

const chosen = mutations.filter(({ name }) => values.only === undefined || values.only.split(",").includes(name));
if (chosen.length === 0) throw new Error(`no such mutation; there are ${mutations.map(({ name }) => name).join(", ")}`);
const missing = chosen.flatMap((mutation) => anchorProblem(mutation) ?? []);
for (const problem of missing) console.log(`ANCHOR ${problem}`);

const verdicts = new Map<string, Verdict>();
const baselines = new Map<string, Verdict>();
const scratches: string[] = [];
const children = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void giveUp());
try {
  const jobs = Math.max(1, Number(values.jobs));
  scratches.push(...Array.from({ length: Math.min(jobs, chosen.length) }, makeScratch));
  if (values.baseline) await inParallel([...new Map(chosen.map((one) => [one.scenario, one])).values()], baseline);
  await inParallel(chosen, judge);
} finally {
  for (const scratch of scratches) rmSync(scratch, { recursive: true, force: true });
}
report();

/** Interrupted: each run cleans up after itself first. */
async function giveUp(): Promise<never> {
  await Promise.all([...children].map((child) => (child.kill("SIGTERM"), once(child, "exit"))));
  for (const scratch of scratches) rmSync(scratch, { recursive: true, force: true });
  process.exit(130);
}

function anchorProblem(mutation: Mutation): string | null {
  for (const { file, search } of editsOf(mutation)) {
    const count = readFileSync(join(root, file), "utf8").split(search).length - 1;
    if (count !== 1) return `${mutation.name}: its text occurs ${count} times in ${file}`;
  }
  return null;
}

/** Everything that a build and a run need; packages are shared. */
function makeScratch(): string {
  const scratch = mkdtempSync(join(tmpdir(), "hf-mutate-"));
  for (const part of ["bin", "src", "scripts", "test", "package.json", "schema", "tsconfig.json", "docs"])
    cpSync(join(root, part), join(scratch, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
  return scratch;
}

async function inParallel(
  list: readonly Mutation[],
  work: (one: Mutation, scratch: string) => Promise<void>,
): Promise<void> {
  const rest = [...list];
  await Promise.all(
    scratches.map(async (scratch) => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one, scratch);
    }),
  );
}

async function baseline(one: Mutation, scratch: string): Promise<void> {
  const verdict = build(scratch) ?? (await run(one, scratch));
  baselines.set(one.scenario, verdict);
  console.log(
    `${verdict.verdict === "green" ? "ok  " : "RED "} ${one.scenario} without a bug (${verdict.seconds.toFixed(0)} s) ${verdict.text}`,
  );
}

async function judge(one: Mutation, scratch: string): Promise<void> {
  if (anchorProblem(one) !== null) {
    verdicts.set(one.name, { verdict: "no anchor", text: anchorProblem(one)!, seconds: 0 });
    return;
  }
  const edits = editsOf(one).map((edit) => ({ ...edit, path: join(scratch, edit.file) }));
  const before = edits.map(({ path }) => ({ path, text: readFileSync(path, "utf8") }));
  for (const { path, search, replace } of edits)
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(search, () => replace),
    );
  try {
    const verdict = build(scratch) ?? (await run(one, scratch));
    verdicts.set(one.name, verdict);
    console.log(
      `${verdict.verdict === "red" ? "red " : "MISS"} ${one.name} by ${one.scenario} (${verdict.seconds.toFixed(0)} s) ${verdict.text}`,
    );
  } finally {
    for (const { path, text } of before) writeFileSync(path, text);
  }
}

/** Null if it built. */
function build(scratch: string): Verdict | null {
  const built = spawnSync(process.execPath, ["scripts/build.ts", "--no-web"], { cwd: scratch, encoding: "utf8" });
  return built.status === 0 ? null : { verdict: "no build", text: built.stderr.slice(-400), seconds: 0 };
}

async function run({ scenario, minutes = defaultMinutes }: Mutation, scratch: string): Promise<Verdict> {
  const json = join(scratch, "result.json");
  rmSync(json, { force: true });
  const args = [
    "test/torture/run.ts",
    "--only",
    scenario,
    "--minutes",
    String(minutes),
    "--seed",
    values.seed,
    "--json",
    json,
    "--quiet",
    "--fail-fast",
  ];
  const child = spawn(process.execPath, args, { cwd: scratch, stdio: "ignore" });
  const began = performance.now();
  const timer = setTimeout(() => child.kill("SIGTERM"), longestMs);
  children.add(child);
  await once(child, "exit");
  children.delete(child);
  clearTimeout(timer);
  const seconds = (performance.now() - began) / 1000;
  try {
    const { results } = JSON.parse(readFileSync(json, "utf8")) as { results: Result[] };
    const result = results.find(({ name }) => name === scenario)!;
    const finding = result.findings[0];
    const text = finding === undefined ? (result.note ?? "") : `${finding.loss}: ${finding.text}`;
    const verdict = { passed: "green", skipped: "broken", broken: "broken", failed: "red" } as const;
    return { verdict: verdict[result.outcome], text: text.split("\n")[0]!.slice(0, 140), seconds };
  } catch {
    return { verdict: "broken", text: "it left no report", seconds };
  }
}

function report(): void {
  const unjudged = chosen.filter(({ scenario }) => values.baseline && baselines.get(scenario)?.verdict !== "green");
  for (const { name, scenario } of unjudged)
    console.log(
      `UNJUDGED ${name}: ${scenario} is ${baselines.get(scenario)?.verdict} without a bug: ${baselines.get(scenario)?.text}`,
    );
  const found = chosen.filter((one) => verdicts.get(one.name)?.verdict === "red" && !unjudged.includes(one));
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      `${JSON.stringify({ baselines: Object.fromEntries(baselines), verdicts: Object.fromEntries(verdicts) }, null, 2)}\n`,
    );
  console.log(`mutations: ${found.length} of ${chosen.length} found`);
  process.exitCode = found.length === chosen.length ? 0 : 1;
}
