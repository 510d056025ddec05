import { expect, test } from "vitest";
import { resolvePath, resolveProject, type ResolveRequest } from "./resolve.ts";
import { withoutTrust } from "./trust.ts";

const request: ResolveRequest = {
  id: "app",
  path: "/repo",
  prefix: "app",
  file: "/repo/holdfast.yaml",
  config: {},
  trust: { state: "trusted", digest: "d", notices: [] },
  user: {},
  remote: null,
};

test("[CONFIG-11] without any file the built-in defaults hold", () => {
  expect(resolveProject({ ...request, file: null })).toEqual({
    id: "app",
    path: "/repo",
    prefix: "app",
    defaultBranch: null,
    agent: "claude",
    kind: "terminal",
    env: {},
    symlinks: [],
    copy: [],
    postCreate: [],
    tracker: null,
    codeHost: null,
    reactions: {},
    notify: {},
    agents: [],
    trust: request.trust,
    passEnv: [],
    restoreOnBoot: true,
    idleStopMinutes: 0,
    maxSessions: null,
    spareWorktrees: null,
    stuckMinutes: 30,
    contain: { mode: "off", network: "on", read: [], write: [] },
    configFile: null,
  });
});

test("[CONFIG-11] the project overrides the file's defaults, which override the user's, which override the built-in ones", () => {
  const user = { defaults: { agent: "codex", kind: "chat" as const, stuckMinutes: 5 }, notify: { desktop: true } };
  const layer = (config: ResolveRequest["config"]) => resolveProject({ ...request, user, config });
  expect(layer({})).toMatchObject({ agent: "codex", kind: "chat", stuckMinutes: 5, restoreOnBoot: true });
  expect(layer({ defaults: { agent: "gemini" } })).toMatchObject({ agent: "gemini", kind: "chat" });
  const all = layer({ defaults: { agent: "gemini" }, projects: { app: { agent: "mine" }, other: { agent: "no" } } });
  expect(all).toMatchObject({ agent: "mine", notify: { desktop: true } });
});

test("[AGENT-2] configured agents keep their source: the user's first, then the project's", () => {
  const user = { agents: { mine: { chat: { command: ["old"] } }, other: { chat: { command: ["o"] } } } };
  const config = { agents: { own: { terminal: { command: ["own"] } } } };
  const { agents } = resolveProject({ ...request, user, config });
  expect(agents.map(({ id, from }) => `${id} ${from}`)).toEqual(["mine user", "other user", "own project"]);
});

test("[CLI-41] passEnv of the user, of the file's defaults and of the project add up", () => {
  const { passEnv } = resolveProject({
    ...request,
    user: { defaults: { passEnv: ["A", "B_*"] } },
    config: { defaults: { passEnv: ["C"] }, projects: { app: { passEnv: ["A", "D"] } } },
  });
  expect(passEnv).toEqual(["A", "B_*", "C", "D"]);
});

test("[CONFIG-10] a tracker's gaps are filled from the remote of the same type only", () => {
  const remote = { type: "github" as const, repo: "owner/app", baseUrl: null };
  const tracker = (type: "github" | "gitlab") =>
    resolveProject({ ...request, remote, config: { projects: { app: { tracker: { type, tokenEnv: "GH_TOKEN" } } } } })
      .tracker;
  expect(tracker("github")).toEqual({
    type: "github",
    repo: "owner/app",
    baseUrl: null,
    tokenEnv: "GH_TOKEN",
    webhookSecretEnv: null,
    isBound: false,
    refused: null,
    tokenRefused: false,
  });
  expect(tracker("gitlab")).toBeNull();
  expect(resolveProject({ ...request, remote }).tracker).toMatchObject({
    ...remote,
    tokenEnv: null,
    webhookSecretEnv: null,
  });
  // Linear has issues only: pull requests are where the remote is.
  const linear = { projects: { app: { tracker: { type: "linear" as const, repo: "INT" } } } };
  expect(resolveProject({ ...request, remote, config: linear })).toMatchObject({
    tracker: { type: "linear", repo: "INT" },
    codeHost: { type: "github", repo: "owner/app" },
  });
});

test.each([
  [".", "/repo"],
  ["../other", "/other"],
  ["/abs", "/abs"],
  ["~/code", "/home/me/code"],
])("[CONFIG-11] the path %s in /repo/holdfast.yaml is %s", (path, absolute) => {
  expect(resolvePath(path, "/repo/holdfast.yaml", "/home/me")).toBe(absolute);
});

test("[CONTAIN-9] the user's contain holds; the file's tightens it, and opens nothing without trust", () => {
  const user = { defaults: { contain: { network: { allow: ["a.example", "b.example"] }, write: ["npm"] } } };
  const contain = { mode: "worktree" as const, network: { allow: ["b.example"] }, read: ["~/.ssh"], write: ["/"] };
  const config = { defaults: { contain: "off" as const }, projects: { app: { contain } } };
  const tight = { mode: "worktree", network: { allow: ["b.example"] }, read: [], write: ["npm"] };
  expect(resolveProject({ ...request, user, config: withoutTrust(config) }).contain).toEqual(tight);
  // Trusted, its lists fill in where the user says nothing.
  expect(resolveProject({ ...request, user, config }).contain).toEqual({ ...tight, read: ["~/.ssh"] });
});
