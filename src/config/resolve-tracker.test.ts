import { expect, test } from "vitest";
import { trackerOf } from "./repository.ts";
import { resolveTracker } from "./resolve.ts";

const hosts = { "ghe.example.com": { type: "github" as const, tokenEnv: "GHE_TOKEN", webhookSecretEnv: "GHE_SECRET" } };
const at = (baseUrl: string | undefined, more: object = {}) =>
  resolveTracker({ type: "github", repo: "a/b", ...(baseUrl === undefined ? {} : { baseUrl }), ...more }, null, hosts)!;

test("[TRUST-8] a variable that a repository names counts only for the host that the user bound it to", () => {
  const refused = { tokenEnv: null, tokenRefused: true };
  expect(at("https://evil.example", { tokenEnv: "ANTHROPIC_API_KEY" })).toMatchObject(refused);
  expect(at("https://evil.example", { tokenEnv: "GHE_TOKEN" })).toMatchObject({
    ...refused,
    refused:
      "tokenEnv names GHE_TOKEN for evil.example, which your own config.yaml does not bind to it. " +
      'To allow it, add there: trackers: {"evil.example": {type: github, tokenEnv: GHE_TOKEN}}',
  });
  expect(at("https://ghe.example.com", { tokenEnv: "AWS_SECRET_ACCESS_KEY" })).toMatchObject(refused);
  // Another port of the same machine, and a name that only begins or ends like it.
  for (const host of ["ghe.example.com:8443", "ghe.example.com.evil.example", "xghe.example.com"]) {
    expect(at(`https://${host}`, { tokenEnv: "GHE_TOKEN" })).toMatchObject({ ...refused, isBound: false });
  }
  expect(at(undefined, { tokenEnv: "ANTHROPIC_API_KEY" })).toMatchObject(refused);
  expect(at(undefined, { webhookSecretEnv: "HOME" })).toMatchObject({ webhookSecretEnv: null, tokenRefused: false });
});

test("[TRUST-8] a bound host gets its variables whether or not the repository names them", () => {
  const bound = { tokenEnv: "GHE_TOKEN", webhookSecretEnv: "GHE_SECRET", isBound: true, refused: null };
  expect(at("https://ghe.example.com")).toMatchObject(bound);
  expect(at("https://GHE.example.com:443/api", { tokenEnv: "GHE_TOKEN" })).toMatchObject(bound);
  const linear = { type: "linear" as const, repo: "INT", baseUrl: "https://ghe.example.com" };
  expect(resolveTracker(linear, null, hosts)).toMatchObject({ tokenEnv: null, isBound: false });
  expect(at(undefined, { tokenEnv: "GH_TOKEN" })).toMatchObject({ tokenEnv: "GH_TOKEN", refused: null });
  const none = JSON.parse('{"__proto__": {"type": "github", "tokenEnv": "X"}}') as typeof hosts;
  expect(resolveTracker({ type: "github", repo: "a/b", baseUrl: "https://toString" }, null, none)).toMatchObject({
    isBound: false,
  });
});

test("[TRUST-8] S10: a remote whose host begins with github. is bound to nothing; a host that the user named is known", () => {
  for (const host of ["github.evil.example", "github.com.evil.example"]) {
    const remote = trackerOf(`https://${host}/o/r`, hosts);
    expect(resolveTracker(undefined, remote, hosts)).toMatchObject({ isBound: false, tokenEnv: null });
  }
  const own = { "code.example.com": { type: "gitlab" as const }, "github.example.com": { type: "gitlab" as const } };
  for (const host of Object.keys(own)) {
    expect(resolveTracker(undefined, trackerOf(`git@${host}:o/r.git`, own), own)).toMatchObject({
      type: "gitlab",
      baseUrl: `https://${host}`,
      isBound: true,
    });
  }
});
