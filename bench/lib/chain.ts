/** The floor of the full chain: `gen` writes events, `chain` appends them to a file and sends them to `wsclients`. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const floors = join(import.meta.dirname, "../floors");
const build = join(tmpdir(), "holdfast-floors");

export interface ChainResult {
  perSecond: number;
  p50Ms: number;
  cpuMicros: number;
}

/** The path of a floor program; null without a compiler. */
export function floorProgram(name: "gen" | "chain" | "wsclients"): string | null {
  const program = join(build, name);
  const made = spawnSync("make", ["-s", "-C", floors, `B=${build}`, program]);
  return made.status === 0 && existsSync(program) ? program : null;
}

export async function runChain(
  directory: string,
  options: { events: number; perSecond: number; clients: number },
): Promise<ChainResult | null> {
  const [gen, chain, clients] = [floorProgram("gen"), floorProgram("chain"), floorProgram("wsclients")];
  if (gen === null || chain === null || clients === null) return null;
  const [portFile, journal] = [join(directory, "chain.port"), join(directory, "chain.journal")];
  rmSync(portFile, { force: true });
  const source = spawn(gen, [String(options.events), String(options.perSecond), options.perSecond > 0 ? "l" : "b"], {
    env: { ...process.env, GEN_WAIT: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const relay = spawn(chain, [portFile, String(options.clients), journal], {
    stdio: [source.stdout, "ignore", "pipe", source.stdin],
  });
  source.stdout.destroy();
  source.stdin.destroy();
  const relayed = text(relay.stderr!);
  while (!existsSync(portFile) || !readFileSync(portFile, "utf8").endsWith("\n")) await delay(2);
  const port = readFileSync(portFile, "utf8").trim();
  const sink = spawn(clients, [port, String(options.clients), String(options.events)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const seen = JSON.parse(await text(sink.stdout)) as { ev_per_s: number; lat_us: { p50: number } };
  const { cpu_us_per_ev: cpuMicros } = JSON.parse(await relayed) as { cpu_us_per_ev: number };
  rmSync(journal);
  return { perSecond: seen.ev_per_s, p50Ms: seen.lat_us.p50 / 1000, cpuMicros };
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += String(chunk);
  return all;
}
