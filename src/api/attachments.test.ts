import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { maxPromptBytes, type PromptRequest } from "../contract/prompt.ts";
import type { SessionState } from "../model/session.ts";
import { takeAttachments } from "./attachments.ts";
import { hasImage, typedPrompt } from "../supervisor/execute/prompts.ts";
import { asPromptId } from "../contract/ids.ts";

const directory = mkdtempSync(join(tmpdir(), "holdfast-attach-"));
const workspacePath = join(directory, "worktree");
mkdirSync(join(workspacePath, "src"), { recursive: true });
writeFileSync(join(workspacePath, "src/a.ts"), "a");
writeFileSync(join(directory, "secret"), "s");
symlinkSync("../secret", join(workspacePath, "out"));
symlinkSync("src/a.ts", join(workspacePath, "in"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const take = (attachments: NonNullable<PromptRequest["attachments"]>, isRetry = false) =>
  takeAttachments({ workspacePath } as SessionState, { promptId: "p", text: "t", attachments }, isRetry);
const gif = (data: string) => take([{ type: "image", mimeType: "image/gif", data }]);

describe("[CHAT-132] what is attached is checked", () => {
  test("images by their first bytes", () => {
    const bytes = Buffer.from("GIF89a and more");
    expect(gif(bytes.toString("base64"))).toMatchObject({
      attachments: [{ type: "image", name: "image 1", mimeType: "image/gif", size: bytes.length }],
      bytes: [bytes],
    });
    expect(() => gif("bm8gaW1hZ2U=")).toThrow("The attachment is not a valid image/gif.");
    for (const data of ["GIF8", "R0lG!A==", "R0l", "R0lGODlh\n"])
      expect(() => gif(data)).toThrow(/not a valid|not base64/);
  });

  test("paths by where they lead", () => {
    const names = take(
      ["src/a.ts", join(workspacePath, "src/a.ts"), "src/../in"].map((path) => ({ type: "file", path })),
    );
    expect(names.attachments.map(({ name }) => name)).toEqual(["src/a.ts", "src/a.ts", "in"]);
    for (const path of ["out", "../secret", "/", "", ".", "../worktree", "src/../../secret"]) {
      expect(() => take([{ type: "file", path }]), path).toThrow("outside of the session's worktree");
    }
    expect(() => take([{ type: "file", path: "src" }])).toThrow("src is not a file");
    expect(() => take([{ type: "file", path: "a\0b" }])).toThrow("zero byte");
    expect(() => take([{ type: "file", path: "gone" }])).toThrow("There is no gone");
    expect(take([{ type: "file", path: "gone" }], true).attachments[0]?.name).toBe("gone");
  });

  test("all of it by its size", () => {
    const text = "x".repeat(maxPromptBytes / 2);
    expect(() => take([{ type: "file", path: "in", text }])).not.toThrow();
    expect(() => take([1, 2].map(() => ({ type: "file", path: "in", text })))).toThrow(/bytes with its attachments/);
  });
});

test("[CHAT-135] what a terminal is typed names the files below the text", () => {
  const { attachments } = take([
    { type: "file", path: "in" },
    { type: "file", path: "src/a.ts", text: "meant" },
  ]);
  const prompt = { promptId: asPromptId("p"), text: "look", attachments };
  expect(typedPrompt(prompt)).toEqual({ promptId: "p", text: "look\n\nin\nsrc/a.ts" });
  expect(hasImage(prompt)).toBe(false);
  expect(typedPrompt({ ...prompt, attachments: [] }).text).toBe("look");
});
