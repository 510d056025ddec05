/**
 * Runs every benchmark of this folder, one after the other, and ends with a table of goals. Nothing is asserted: figures
 * depend on the machine. `node bench/run.ts [name...]` runs some; `--floors` adds the physical floors (needs cc, python3).
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { styleText } from "node:util";

const here = import.meta.dirname;
const asked = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const files = readdirSync(here)
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .sort()
  .filter((file) => asked.length === 0 || asked.includes(file.replace(/\.ts$/, "")));

interface Row {
  name: string;
  measured: string;
  goal: string;
  verdict: "pass" | "miss" | "";
}

/** Keys that describe how something was measured, not the result. */
const conditions = new Set(["bench", "what", "goal", "met", "measured", "unit", "rounds", "batch", "sessions"]);

const rows: Row[] = [];
const failed: string[] = [];
for (const file of files) {
  const status = await run(process.execPath, [join(here, file)], (line) => note(line));
  if (status !== 0) failed.push(file);
}
if (process.argv.includes("--floors")) {
  const status = await run("python3", [join(here, "floors/floors.py"), "--node", process.execPath], () => {});
  if (status !== 0) failed.push("floors");
}
printTable();
for (const file of failed) console.error(`${file} did not finish; its figures are missing.`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Forwards the output as it arrives. */
async function run(command: string, args: string[], line: (text: string) => void): Promise<number | null> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  for await (const text of createInterface({ input: child.stdout })) {
    console.log(text);
    line(text);
  }
  return ended;
}

function note(line: string): void {
  let figure: unknown;
  try {
    figure = JSON.parse(line);
  } catch {
    return;
  }
  if (typeof figure !== "object" || figure === null || !("bench" in figure)) return;
  const { bench, what, goal, met, measured, unit, batch, sessions } = figure as Record<string, unknown>;
  const name = [
    bench,
    what,
    batch === undefined ? "" : `batch ${text(batch)}`,
    sessions === undefined ? "" : `${text(sessions)} sessions`,
  ];
  rows.push({
    name: name
      .map(text)
      .filter((word) => word !== "")
      .join(" "),
    measured: measured === undefined ? loose(figure) : `${text(measured)} ${text(unit)}`,
    goal: text(goal),
    verdict: met === true ? "pass" : met === false ? "miss" : "",
  });
}

/** A figure that names its values itself: `rowsPerSecond=93000 ofFloor=0.9`. */
function loose(figure: object): string {
  return Object.entries(figure)
    .filter(([key, value]) => typeof value === "number" && !conditions.has(key))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(" ");
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function printTable(): void {
  const header: Row = { name: "figure", measured: "measured", goal: "goal", verdict: "" };
  const width = (key: "name" | "measured" | "goal"): number =>
    Math.max(...[header, ...rows].map((row) => row[key].length));
  const [names, values, goals] = [width("name"), width("measured"), width("goal")];
  console.log(
    `\nload ${loadavg()
      .map((load) => load.toFixed(1))
      .join(" ")}, node ${process.version}`,
  );
  for (const row of [header, ...rows]) {
    const verdict = row.verdict === "" ? "" : styleText(row.verdict === "pass" ? "green" : "red", row.verdict);
    console.log(
      `${row.name.padEnd(names)}  ${row.measured.padEnd(values)}  ${row.goal.padStart(goals)}  ${verdict}`.trimEnd(),
    );
  }
}
