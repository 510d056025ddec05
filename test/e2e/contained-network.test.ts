/** The network of contained sessions through the built product: an allow list, and the life of its proxy. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readProxy } from "../../src/contain/network/files.ts";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const hasBwrap = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

/** For each line of the file `ask` in its worktree, writes a line with the body, or with curl's error, to `answers`. */
const agent = `while :; do
  [ -e ask ] && mv ask asking && while read -r url; do curl -sS -m 30 --noproxy none "$url" 2>&1 | tr "\\n" " "; echo; done <asking >>answers
  sleep 0.1
done`;

test.runIf(hasBwrap)(
  "[NETWORK-2, NETWORK-4, NETWORK-5] a listed host is reachable, another one is reported in the session; the proxy outlives the daemon and exits after the last session (needs bwrap)",
  async () => {
    const server = createServer((request, response) => response.end(`served ${request.url}`)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await using home = new ChatHome({ HOLDFAST_TEST_MINUTE_MS: "300" });
    await home.begin();
    writeFileSync(
      home.paths.config,
      JSON.stringify({ agents: { probe: { terminal: { command: ["bash", "-c", agent] } } } }),
    );
    const args = ["spawn", "my-app", "--agent", "probe", "--kind", "terminal", "--contain", "worktree"];
    const { id, workspacePath } = await home.json([...args, "--network", `127.0.0.1:${port}`]);
    let asked = 0;
    const ask = async (url: string): Promise<string> => {
      asked += 1;
      writeFileSync(join(workspacePath, "ask.new"), `${url}\n`);
      renameSync(join(workspacePath, "ask.new"), join(workspacePath, "ask"));
      return until(
        `an answer about ${url}`,
        () => readFileSync(join(workspacePath, "answers"), "utf8").split("\n").slice(0, -1)[asked - 1],
      );
    };
    const network = join(home.home, "network");
    expect(await ask(`http://127.0.0.1:${port}/one`)).toBe("served /one");
    // The daemon's own port, as a hostile agent would try it.
    expect(await ask(`${home.daemon().url}/api/v1/sessions`)).toContain("Blocked by Holdfast");
    expect(await ask("https://foreign.example/")).toContain("403");
    const notices = async (): Promise<string[]> =>
      (await home.events(id))
        .flatMap((event) => (event.type === "notice" ? [String(event["text"])] : []))
        .filter((text) => text.startsWith("Network:"));
    await until("both refusals in the session", async () => (await notices()).length === 2);
    expect((await notices())[1]).toBe(
      "Network: blocked foreign.example:443, which is not in this session's allow list.",
    );

    const first = readProxy(network)!.pid;
    await home.crash();
    expect(await ask(`http://127.0.0.1:${port}/two`)).toBe("served /two");
    await home.ok(["start", "--port", "0"]);
    expect(readProxy(network)!.pid).toBe(first);
    process.kill(first, "SIGKILL");
    await until("another proxy", () => readProxy(network)!.pid !== first);
    expect(await ask(`http://127.0.0.1:${port}/three`)).toBe("served /three");
    expect(await notices()).toHaveLength(2);

    const second = readProxy(network)!.pid;
    await home.ok(["session", "kill", id]);
    await home.ok(["session", "delete", id, "--yes"]);
    await until("the files of the session to be gone", () => !existsSync(join(network, id)));
    await home.ok(["stop"]);
    await until("the proxy to be gone", () => !isRunning(second));
    server.close();
  },
);
