import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { formatProblem } from "../../config/file.ts";
import { parseConfig } from "../../config/load.ts";
import type { Notification } from "../../ports/notify.ts";
import { configuredChannels } from "../reactions/notifications.ts";

const note: Notification = {
  id: "ma-1-abc",
  title: "ma-1: Prüfungen 失敗 🔥",
  text: "Checks failed.\nhttps://example.test/owner/app/pull/7",
  session: "ma-1",
  project: "my-app",
  why: "Checks failed.",
  at: 0,
};

interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** A server that records what it gets and responds with these statuses, then with 200. */
async function ntfyServer(...statuses: number[]): Promise<{ server: string; received: Received[] }> {
  const received: Received[] = [];
  const http = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => void (text += part));
    request.on("end", () => {
      received.push({ method: request.method, path: request.url, headers: request.headers, body: JSON.parse(text) });
      const status = statuses.shift() ?? 200;
      response.writeHead(status, status === 307 ? { location: "/elsewhere" } : {});
      response.end("SECRET-TOKEN SECRET-TOPIC");
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise<void>((resolve) => http.close(() => resolve()));
  });
  return { server: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, received };
}

const send = async (setting: object): Promise<void> => configuredChannels({ ntfy: setting }).get("ntfy")!(note);

test("[NOTIFY-16] ntfy gets title, text, priority, tags and the address to open, in any language", async () => {
  const { server, received } = await ntfyServer();
  await send({ topic: "mine", server, token: "tk_1", priority: "high", tags: ["robot"] });
  await send({ topic: "mine", server: `${server}/` });
  expect(received).toMatchObject([
    {
      method: "POST",
      path: "/",
      headers: { authorization: "Bearer tk_1", "content-type": "application/json" },
      body: {
        topic: "mine",
        title: note.title,
        message: note.text,
        priority: 4,
        tags: ["robot"],
        click: "https://example.test/owner/app/pull/7",
      },
    },
    { path: "/", body: { topic: "mine", priority: 3, tags: [] } },
  ]);
  expect(received[1]?.headers.authorization).toBeUndefined();
});

test("[NOTIFY-16, NOTIFY-2] a failure of ntfy is reported without token, topic or address, and no redirect is followed", async () => {
  const { server, received } = await ntfyServer(403, 307);
  const setting = { topic: "SECRET-TOPIC", server, token: "SECRET-TOKEN" };
  await expect(send(setting)).rejects.toThrow(/^the server returned status 403$/);
  await expect(send(setting)).rejects.toThrow(/^the server could not be reached/);
  expect(received).toHaveLength(2);
  await expect(send({ ...setting, server: "http://127.0.0.1:1" })).rejects.toThrow(/^the server could not be reached/);
});

test("[NOTIFY-16, CONFIG-1] errors in the settings of ntfy quote neither topic, server nor token", async () => {
  const text = [
    "notify:",
    "  ntfy:",
    "    topic: SECRET TOPIC",
    "    server: ftp://SECRET",
    "    token: [SECRET]",
    "    priority: hihg",
    "",
  ].join("\n");
  const loaded = await parseConfig("config.yaml", text, "user");
  const problems = loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem));
  expect(problems).toHaveLength(4);
  expect(problems.join("\n")).not.toContain("SECRET");
  expect(problems.join("\n")).toContain('"priority" must be min, low, default, high or max, not the text "hihg"');
  expect((await parseConfig("config.yaml", "notify: {ntfy: {topic: mine}}\n", "user")).ok).toBe(true);
});
