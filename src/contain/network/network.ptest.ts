/** The proxy as a process, and a bridge to it inside of a network namespace (the built programs, and bwrap). */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homePrefix, homesDirectory } from "../../../test/harness/home.ts";
import { isRunning } from "../../../test/harness/marked.ts";
import { until } from "../../../test/harness/until.ts";
import { asSessionId } from "../../contract/ids.ts";
import type { InsideNetwork } from "./inside.ts";
import { Network, type NetworkOptions } from "./network.ts";
import { readProxy } from "./files.ts";

const dist = join(import.meta.dirname, "../../../dist");
const hasBwrap = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
const session = asSessionId("ma-1");

class World implements AsyncDisposable {
  readonly home = mkdtempSync(join(homesDirectory, homePrefix(process.env["HOLDFAST_TEST_RUN"] ?? "network")));
  /** Longer than the path of a socket may be. */
  readonly directory = join(this.home, "long".repeat(30), "network");
  readonly network = this.open();
  readonly #servers: Server[] = [];
  readonly #children: ChildProcess[] = [];

  open(options: Partial<NetworkOptions> = {}): Network {
    const proxy = join(dist, "network-proxy.cjs");
    const bridge = join(dist, "network-bridge.cjs");
    const env = { ...process.env, SECRET_TOKEN: "x" };
    return new Network({
      directory: this.directory,
      node: process.execPath,
      proxy,
      bridge,
      env,
      lingerMs: 60_000,
      ...options,
    });
  }

  get proxy(): number {
    return readProxy(this.directory)?.pid ?? 0;
  }

  async serve(): Promise<number> {
    const server = createServer((request, response) => response.end(`served ${request.url}`)).listen(0, "127.0.0.1");
    this.#servers.push(server);
    await new Promise((resolve) => server.once("listening", resolve));
    return (server.address() as AddressInfo).port;
  }

  /** A shell in namespaces of its own; answers each line with one line. */
  inside(
    network: InsideNetwork,
    script: string,
  ): { child: ChildProcess; said: () => string; ask: (line: string) => Promise<string> } {
    const system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].flatMap((path) => ["--ro-bind-try", path, path]);
    const args = [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-net",
      ...system,
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      ...network.args,
      "--",
    ];
    const env = { PATH: process.env["PATH"], HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"], ...network.env };
    const child = spawn("bwrap", [...args, ...network.prefix, "bash", "-c", script], { env, detached: true });
    this.#children.push(child);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (bytes: Buffer) => void (said += bytes.toString()));
    const ask = async (line: string): Promise<string> => {
      const from = said.length;
      child.stdin?.write(`${line}\n`);
      const whole = await until(`an answer to ${line}`, () => /^.*\n/.exec(said.slice(from))?.[0]);
      return whole.trim();
    };
    return { child, said: () => said, ask };
  }

  async ended(child: ChildProcess): Promise<number | null> {
    await until("the end", () => child.exitCode !== null || child.signalCode !== null);
    return child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
    const { proxy } = this;
    await this.network.close({ idle: true });
    if (proxy > 0) await until("the proxy to be gone", () => !isRunning(proxy));
    for (const server of this.#servers) server.close();
    rmSync(this.home, { recursive: true });
  }
}

/** Prints the body that the URL has through the proxy of the environment, or curl's error, in one line. */
const shell =
  'set -f; while read -r words; do curl -sS -m 20 $words 2>&1 | head -c 300 | tr "\\n" " "; echo; done; exit 7';

test.runIf(hasBwrap)(
  "[NETWORK-1, NETWORK-2, NETWORK-4, NETWORK-7, NETWORK-10] inside, listed places are reached and nothing else; the agent's exit status passes (needs bwrap)",
  async () => {
    await using world = new World();
    const [listed, foreign] = [await world.serve(), await world.serve()];
    const inside = await world.network.open(session, [`127.0.0.1:${listed}`]);
    const agent = world.inside(inside, shell);
    expect(await agent.ask(`http://127.0.0.1:${listed}/a`)).toBe("served /a");
    expect(await agent.ask(`--noproxy none http://127.0.0.1:${listed}/b`)).toBe("served /b");
    expect(await agent.ask(`--noproxy none http://127.0.0.1:${foreign}/b`)).toContain("Blocked by Holdfast");
    expect(await agent.ask("https://foreign.example/")).toContain("403");
    // The loopback inside is another one: only the listed port of the machine's is there.
    expect(await agent.ask(`http://127.0.0.1:${foreign}/b`)).toContain("Failed to connect");
    await until("the refusals on record", () => world.network.blocked(session).blocked.length === 2);
    expect(world.network.blocked(session).blocked.map(({ host, port }) => `${host}:${port}`)).toEqual([
      `127.0.0.1:${foreign}`,
      "foreign.example:443",
    ]);
    // None of the person's secrets is in the process that talks to agents.
    expect(readFileSync(`/proc/${world.proxy}/environ`, "utf8")).not.toContain("SECRET_TOKEN");
    // The daemon stops: the proxy stays with its agents, and leaves with the last one.
    const { proxy } = world;
    await world.network.close({ idle: false });
    expect(await agent.ask(`http://127.0.0.1:${listed}/c`)).toBe("served /c");
    agent.child.stdin?.end();
    expect(await world.ended(agent.child)).toBe(7);
    await until("the proxy to leave", () => !isRunning(proxy));
    const off = world.inside({ args: [], prefix: [], env: {} }, shell);
    expect(await off.ask(`http://127.0.0.1:${listed}/`)).toContain("curl:");
  },
);

test.runIf(hasBwrap)(
  "[NETWORK-7] signals to the group reach the agent once; the bridge waits for it (needs bwrap)",
  async () => {
    await using world = new World();
    const inside = await world.network.open(session, []);
    const agent = world.inside(
      inside,
      'trap "echo term" TERM; trap "echo int" INT; echo ready; while read -r line; do break; done; exit 3',
    );
    await until("the agent", () => agent.said().includes("ready"));
    const members = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isOf(Number(pid), agent.child.pid!));
    // All but the two processes of bwrap, as a stop does it.
    const others = members.filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8") !== "bwrap\n");
    expect(others.length).toBe(members.length - 2);
    for (const pid of others) process.kill(Number(pid), "SIGTERM");
    await until("the signal", () => agent.said().includes("term"));
    agent.child.stdin?.write("\n");
    expect(await world.ended(agent.child)).toBe(3);
    expect(agent.said()).toBe("ready\nterm\n");
  },
);

/** Whether a process is a member of a process group. */
function isOf(pid: number, group: number): boolean {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")[2]) === group;
  } catch {
    return false;
  }
}

test.runIf(hasBwrap)(
  "[NETWORK-5] the next daemon finds the proxy; a killed one is replaced under running agents, an older one hands over (needs bwrap)",
  async () => {
    await using world = new World();
    const port = await world.serve();
    const list = [`127.0.0.1:${port}`];
    const agent = world.inside(await world.network.open(session, list), shell);
    expect(await agent.ask(`http://127.0.0.1:${port}/1`)).toBe("served /1");
    const first = world.proxy;
    const next = world.open();
    await next.ensure();
    await next.open(asSessionId("ma-2"), list);
    expect(world.proxy).toBe(first);
    process.kill(first, "SIGKILL");
    await until("its end", () => !isRunning(first));
    await next.ensure();
    const second = world.proxy;
    expect(second).not.toBe(first);
    expect(await agent.ask(`http://127.0.0.1:${port}/2`)).toBe("served /2");
    // Another build of the program.
    const newer = join(world.home, "newer.cjs");
    writeFileSync(newer, `${readFileSync(join(dist, "network-proxy.cjs"), "utf8")}\n// newer`);
    await world.open({ proxy: newer }).ensure();
    expect(world.proxy).not.toBe(second);
    await until("the older one to leave", () => !isRunning(second));
    expect(await agent.ask(`http://127.0.0.1:${port}/3`)).toBe("served /3");
    // A list that is written again holds for the next connection.
    await world.open({ proxy: newer, lingerMs: 3_000 }).open(session, []);
    expect(await agent.ask(`--noproxy none http://127.0.0.1:${port}/4`)).toContain("Blocked by Holdfast");
    expect(await agent.ask(`http://127.0.0.1:${port}/5`)).toContain("curl:");
    // No daemon is there to stop it: it leaves with its last agent all the same.
    const third = world.proxy;
    agent.child.stdin?.end();
    await until("the proxy to leave", () => !isRunning(third));
  },
);

test("[NETWORK-9] a proxy that does not start is an error with the place of its log, and nothing is launched", async () => {
  await using world = new World();
  const broken = world.open({ proxy: join(world.home, "broken.cjs") });
  writeFileSync(join(world.home, "broken.cjs"), "process.exit(3)");
  await expect(broken.open(session, [])).rejects.toThrow("did not start: it exited with 3");
  await expect(broken.open(session, ["127.1:80"])).rejects.toThrow('"127.1:80" is not a host name');
});

test("[NETWORK-5] a proxy whose home was removed leaves", async () => {
  await using world = new World();
  await world.network.open(session, []);
  const { proxy } = world;
  rmSync(world.directory, { recursive: true });
  process.kill(proxy, "SIGHUP");
  await until("the proxy to leave", () => !isRunning(proxy));
});

test("[NETWORK-5] a copy of a home gets a proxy of its own, and the original's stays", async () => {
  await using world = new World();
  await world.network.open(session, []);
  const copy = join(world.home, "copy");
  cpSync(world.directory, copy, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  const other = world.open({ directory: copy });
  await other.close({ idle: true });
  expect(isRunning(world.proxy)).toBe(true);
  await other.open(session, []);
  expect(readProxy(copy)!.pid).not.toBe(world.proxy);
  await other.close({ idle: true });
  expect(isRunning(world.proxy)).toBe(true);
});
