import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TrackerSettings } from "../../ports/tracker.ts";
import { openWebhook } from "./registry.ts";

const secret = "hook-secret";
const github: TrackerSettings = { type: "github", repo: "owner/app", baseUrl: null, tokenEnv: null };
const gitlab: TrackerSettings = { ...github, type: "gitlab", repo: "group/sub/app" };
const body = Buffer.from('{"zen": "…"}');
const signatureOf = (bytes: Buffer): string => `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`;

function isSigned(settings: TrackerSettings, headers: Record<string, string>, bytes = body, given = secret): boolean {
  const check = openWebhook(settings, headers, given);
  for (let at = 0; at < bytes.length; at += 5) check?.take(bytes.subarray(at, at + 5));
  return check?.isSigned() === true;
}

describe("[TRACKER-11] webhooks", () => {
  test("count with the right signature over the very bytes, in whatever pieces they come", () => {
    const headers = { "x-hub-signature-256": signatureOf(body) };
    expect(isSigned(github, headers)).toBe(true);
    expect(isSigned(github, headers, body, "other")).toBe(false);
    expect(isSigned(github, headers, Buffer.concat([body, Buffer.from(" ")]))).toBe(false);
    expect(isSigned(gitlab, { "x-gitlab-token": secret })).toBe(true);
  });

  test("[LIMIT-4] whose headers cannot be right are refused before a byte of the body is read", () => {
    const signature = signatureOf(body);
    for (const wrong of [{}, { "x-hub-signature-256": "s" }, { "x-hub-signature-256": `${signature}00` }]) {
      expect(openWebhook(github, wrong, secret)).toBeNull();
    }
    expect(openWebhook(github, { "x-gitlab-token": secret }, secret)).toBeNull();
    expect(openWebhook(gitlab, { "x-gitlab-token": "x" }, secret)).toBeNull();
    expect(openWebhook(gitlab, { "x-hub-signature-256": signature }, secret)).toBeNull();
    expect(openWebhook(gitlab, { "x-gitlab-token": "x".repeat(2000) }, "x".repeat(2000))).toBeNull();
    expect(openWebhook({ ...github, type: "linear" }, { "x-hub-signature-256": signature }, secret)).toBeNull();
    expect(openWebhook(github, { "x-hub-signature-256": signature }, "")).toBeNull();
  });
});
