import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Notification } from "../../ports/notify.ts";
import { configuredChannels } from "../reactions/notifications.ts";

const note: Notification = {
  id: "ma-1-abc",
  title: "ma-1: <!channel> & co",
  text: "-x $(touch /tmp/never) <https://example.test|here>",
  session: "ma-1",
  project: "my-app",
  why: "Checks failed.",
  at: 0,
};

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
}

test("[NOTIFY-1] webhook and Slack get JSON; external text mentions no one in Slack", async () => {
  const bodies: unknown[] = [];
  const address = await serve((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => void (text += part));
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      response.end();
    });
  });
  const channels = configuredChannels({ webhook: address, slack: address });
  expect([...channels.keys()]).toEqual(["slack", "webhook"]);
  await channels.get("webhook")!(note);
  await channels.get("slack")!(note);
  expect(bodies[0]).toEqual({ ...note, at: "1970-01-01T00:00:00.000Z" });
  expect(bodies[1]).toMatchObject({
    text: "*ma-1: &lt;!channel&gt; &amp; co*\n-x $(touch /tmp/never) &lt;https://example.test|here&gt;",
  });
});

test("[NOTIFY-2] a failure is reported without the address, which may contain a secret", async () => {
  const address = await serve((_request, response) => {
    response.statusCode = 404;
    response.end("no");
  });
  const channels = configuredChannels({ webhook: address, slack: "http://127.0.0.1:1/secret-path" });
  await expect(channels.get("webhook")!(note)).rejects.toThrow(/^the server returned status 404$/);
  await expect(channels.get("slack")!(note)).rejects.toThrow(/^the server could not be reached/);
});

test("[NOTIFY-1] the desktop gets arguments, never a shell command", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-notify-"));
  const path = process.env["PATH"];
  onTestFinished(() => {
    process.env["PATH"] = path;
    rmSync(directory, { recursive: true, force: true });
  });
  const program = join(directory, process.platform === "darwin" ? "osascript" : "notify-send");
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${directory}/arguments'\n`);
  chmodSync(program, 0o755);
  process.env["PATH"] = `${directory}:${path}`;
  await configuredChannels({ desktop: true }).get("desktop")!(note);
  expect(readFileSync(join(directory, "arguments"), "utf8")).toContain("-x $(touch /tmp/never)");
  process.env["PATH"] = "/nonexistent";
  await expect(configuredChannels({ desktop: true }).get("desktop")!(note)).rejects.toThrow("is not installed");
});
