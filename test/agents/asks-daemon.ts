/**
 * An agent's program that calls the daemon on its own, as a malicious one would: `asks-daemon.ts <directory> [stay]`
 * sends the requests in `<directory>/ask.json` and writes the responses to `answer.json`; with `stay` it waits for more.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";

export interface DaemonRequest {
  /** Path of a unix socket, or a port of this machine. */
  to: string | number;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface DaemonAnswer {
  status: number;
  text: string;
}

const pollMs = 20;
const [directory = ".", stay] = process.argv.slice(2);
const asked = join(directory, "ask.json");

for (;;) {
  if (existsSync(asked)) {
    const requests = JSON.parse(readFileSync(asked, "utf8")) as DaemonRequest[];
    rmSync(asked);
    const answers: DaemonAnswer[] = [];
    for (const one of requests) answers.push(await send(one));
    const file = join(directory, "answer.json");
    writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, env: process.env, answers }));
    renameSync(`${file}.new`, file);
    if (stay === undefined) break;
  }
  await new Promise((resume) => setTimeout(resume, pollMs));
}

function send({ to, method, path, headers = {}, body }: DaemonRequest): Promise<DaemonAnswer> {
  const place = typeof to === "string" ? { socketPath: to } : { host: "127.0.0.1", port: to };
  const text = body === undefined ? "" : JSON.stringify(body);
  const own = body === undefined ? {} : { "content-type": "application/json", "content-length": text.length };
  return new Promise((resolve, reject) => {
    const asking = request({ ...place, method, path, agent: false, headers: { ...own, ...headers } }, (response) => {
      let answer = "";
      // Opening the stream is enough of a response.
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        resolve({ status: response.statusCode ?? 0, text: answer });
        asking.destroy();
        return;
      }
      response.setEncoding("utf8").on("data", (part: string) => (answer += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: answer }));
    });
    asking.on("error", reject);
    asking.end(text);
  });
}
