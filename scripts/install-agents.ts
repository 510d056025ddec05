/** Installs the real agents into the lane's own cache. Fails, instead of skipping, if one cannot be installed. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentPackages, binDirectory, cacheDirectory } from "../test/agents-lane/agents/agents.ts";

/** The packages with the adapters' programs for one platform; no option of the adapters shows that one is missing. */
const adapterPrograms = ["@anthropic-ai/claude-agent-sdk", "@zed-industries/codex-acp"];
/** Written last, so that an interrupted install is repeated. */
const stampName = "installed.json";
/** Downloads of over a gigabyte may break off or stall. */
const attempts = 3;
const attemptMs = 1_200_000;

export function installAgents(): void {
  const cache = cacheDirectory();
  const wanted = JSON.stringify(Object.fromEntries(agentPackages.map(({ name, version }) => [name, version])));
  const stamp = join(cache, stampName);
  const installed = existsSync(stamp) ? (JSON.parse(readFileSync(stamp, "utf8")) as Record<string, string>) : {};
  if (agentPackages.every(({ name, version }) => installed[name] === version)) return checkVersions(cache);
  console.log("Installing the real agents (about 1.7 GB, once) …");
  rmSync(stamp, { force: true });
  for (let attempt = 1; ; attempt++) {
    try {
      npmInstall(cache, wanted);
      checkVersions(cache);
      break;
    } catch (error) {
      if (attempt === attempts) throw error;
      console.log(`${error instanceof Error ? error.message : String(error)}\nonce more …`);
      // npm may take half an install for a complete one: a platform's program is optional, and skipped silently.
      rmSync(join(cache, "node_modules"), { recursive: true, force: true });
    }
  }
  writeFileSync(stamp, wanted);
}

function npmInstall(cache: string, dependencies: string): void {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), `{"private":true,"dependencies":${dependencies}}\n`);
  const quiet = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
  const unrecorded = ["--no-save", "--no-package-lock", "--omit-lockfile-registry-resolved"];
  const patient = ["--fetch-retries=5", "--fetch-timeout=120000"];
  const args = ["install", "--prefix", cache, ...quiet, ...unrecorded, ...patient];
  // Not inside the project, whose .npmrc and package.json do not apply to the cache.
  const ran = spawnSync("npm", args, {
    cwd: cache,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: attemptMs,
  });
  // A Node of one agent must not run the others.
  rmSync(join(binDirectory(cache), "node"), { force: true });
  if (ran.status === 0) return;
  const output = `${ran.stdout}\n${ran.stderr}\n${ran.error?.message ?? ""}`;
  throw new Error(`npm could not install the agents:\n${withoutHosts(output.trim())}`);
}

/** Each command must run and have the requested version: an incomplete install fails here and not in a test. */
function checkVersions(cache: string): void {
  for (const name of adapterPrograms.map((one) => `${one}-${process.platform}-${process.arch}`)) {
    const places = [name, `${name}-musl`].map((one) => join(cache, "node_modules", one));
    if (!places.some((place) => existsSync(place))) throw new Error(`${name} was not installed`);
  }
  const home = mkdtempSync(join(tmpdir(), "agents-version-"));
  const env = { HOME: home, PATH: `${binDirectory(cache)}:${process.env["PATH"] ?? ""}`, LANG: "C.UTF-8" };
  try {
    for (const { command, version, name } of agentPackages) {
      if (command === null) continue;
      const ran = spawnSync(join(binDirectory(cache), command), ["--version"], {
        env,
        encoding: "utf8",
        timeout: 120_000,
      });
      const output = `${ran.stdout ?? ""}${ran.stderr ?? ""}${ran.error?.message ?? ""}`;
      if (ran.status !== 0 || !output.includes(version)) {
        throw new Error(`${command} of ${name}@${version} does not run: ${withoutHosts(output.trim()).slice(0, 500)}`);
      }
      console.log(`${command} ${version}`);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Removes the registry's host, which does not belong in a log. */
function withoutHosts(text: string): string {
  return text.replaceAll(/\b(https?:\/\/)[^\s/"']+/g, "$1…");
}
