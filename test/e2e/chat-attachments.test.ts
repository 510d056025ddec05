import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { builderOf, transcriptOf } from "../../src/model/transcript/builder.ts";
import type { InfoJson } from "../../src/contract/daemon.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(100_000)]);
const image = (bytes = png) => ({
  type: "image" as const,
  mimeType: "image/png" as const,
  data: bytes.toString("base64"),
});

test("[CHAT-131] [CHAT-133] [CHAT-134] images and files arrive in the form the agent supports, are stored, and follow an edited prompt", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const { workspacePath } = await home.show(id);
  const picture = join(home.directory, "picture.bin");
  writeFileSync(picture, png);
  writeFileSync(join(workspacePath, "notes.md"), "words");
  const uri = pathToFileURL(join(workspacePath, "notes.md")).href;
  const sent = ["send", id, "say: seen", "--wait", "--image", picture, "--attach", "notes.md", "--attach", "notes.md"];
  expect(await home.ok(sent)).toContain(`image: image/png, ${png.length} bytes\nlink: ${uri}\nlink: ${uri}\nseen`);
  const meant = { type: "file" as const, path: join(workspacePath, "notes.md"), text: "four" };
  await home.call("prompt", id, {
    body: { promptId: "p-2", text: "say: b", attachments: [meant], waitForTurn: true },
  });
  expect(await home.said(id)).toContain(`file: ${uri}, 4 characters\nb`);

  // The event names it; the bytes require a token, and only images are served.
  const [admitted] = await home.ofType(id, "prompt.admitted");
  const [first, second] = admitted!["attachments"] as Record<string, unknown>[];
  expect(first).toMatchObject({ type: "image", name: "picture.bin", mimeType: "image/png", size: png.length });
  expect(second).toMatchObject({ type: "file", name: "notes.md", size: 0 });
  expect(JSON.stringify(admitted).length).toBeLessThan(1_000);
  const { url } = await home.json<InfoJson>(["info"]);
  const authorization = `Bearer ${readFileSync(home.paths.token, "utf8").trim()}`;
  const at = `${url}/api/sessions/${id}/prompts/${admitted!["promptId"] as string}/attachments`;
  const served = await fetch(`${at}/0`, { headers: { authorization } });
  expect(served.headers.get("content-type")).toBe("image/png");
  expect(served.headers.get("x-content-type-options")).toBe("nosniff");
  expect(Buffer.from(await served.arrayBuffer()).equals(png)).toBe(true);
  expect((await fetch(`${at}/0`)).status).toBe(401);
  for (const n of ["1", "9", "x"]) expect((await fetch(`${at}/${n}`, { headers: { authorization } })).status).toBe(404);

  // Queued across a crash, with another text.
  await home.send(id, "say: busy\ngate: a", { waitMs: 0 });
  await home.says(id, "busy");
  await home.call("prompt", id, { body: { promptId: "p-3", text: "say: old", attachments: [image()], waitMs: 0 } });
  await home.ok(["acp", "queue", id, "--edit", "p-3", "say: new"]);
  expect(await home.ok(["acp", "queue", id])).toBe("1. p-3  say: new [image 1]\n");
  await home.crash();
  await home.ok(["start"]);
  home.openGate("a");
  const edited = (await home.ended(id, 4)).at(-1);
  expect(edited).toMatchObject({ promptId: "p-3", text: `image: image/png, ${png.length} bytes\nnew\n` });

  // A client reads the same from the cached transcript and from the events.
  const page = await home.call("transcript", id);
  expect(builderOf(page).transcript()).toEqual(transcriptOf(await home.events(id)));
  expect(
    page.items.filter(({ item }) => item === "prompt").map((item) => "attachments" in item && item.attachments.length),
  ).toEqual([3, 1, 0, 1]);
});

test("[CHAT-132] unsupported attachments are refused before anything is written, or reported if that is known only later", async () => {
  await using home = await ChatHome.open({ plain: { program: "unknown-notifications" } });
  const id = await home.chat(undefined, "plain");
  const { workspacePath, seq } = await home.show(id);
  const send = (attachment: object, promptId: string = randomUUID()) =>
    home.call("prompt", id, { body: { promptId, text: "x", attachments: [attachment as ReturnType<typeof image>] } });
  await expect(send(image())).rejects.toThrow("The agent plain does not accept images.");
  symlinkSync(home.directory, join(workspacePath, "way-out"));
  writeFileSync(join(home.directory, "secret"), "s");
  for (const path of ["../secret", "/etc/hostname", "way-out/secret", "."]) {
    await expect(send({ type: "file", path })).rejects.toThrow(/outside of the session's worktree/);
  }
  await expect(send({ type: "file", path: "missing.md" })).rejects.toThrow("There is no missing.md");
  expect((await home.show(id)).seq).toBe(seq);

  // Nothing is known about an agent that is still starting: the refusal is reported once it is up.
  home.arm("launch.recorded", "pause");
  const other = await home.call("spawn", "", {
    body: { project: "my-app", agent: "plain", kind: "chat", wait: false },
  });
  await home.reached("launch.recorded");
  const sending = home.call("prompt", other.id, { body: { promptId: "late", text: "x", attachments: [image()] } });
  await until("the prompt to wait", async () => (await home.show(other.id)).queued === 1);
  home.disarm("launch.recorded");
  expect(await sending).toMatchObject({ disposition: "refused", reason: "this agent takes no images" });
  expect(await home.ofType(other.id, "prompt.refused")).toHaveLength(1);
  expect(await home.turns(other.id)).toEqual([]);
});

test("[CHAT-135] a terminal session receives a file's path below the text, and no image", async () => {
  await using home = await ChatHome.open();
  const { id, workspacePath } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  writeFileSync(join(workspacePath, "notes.md"), "words");
  const picture = join(home.directory, "picture.png");
  writeFileSync(picture, png);
  const refused = await home.cli(["send", id, "look", "--image", picture]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("Terminal sessions do not accept images.");
  expect(await home.json(["send", id, "say: read", "--attach", "notes.md"])).toMatchObject({
    disposition: "delivered",
  });
  await until("the path on the screen", async () => {
    const { stdout } = await home.run("tmux", [
      "-L",
      home.paths.tmuxSocket,
      "capture-pane",
      "-p",
      "-t",
      `=worker-my-app-${id}:`,
    ]);
    return stdout.includes("notes.md");
  });
});
