#!/usr/bin/env node
/**
 * A stand-in for `docker`: records each call, keeps containers as files and runs `exec` on this machine, with the
 * container's mounts (by bwrap). It supports what the devcontainer CLI and Holdfast use, and nothing more. Its folder is in
 * HOME.
 */
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const folder = join(process.env["HOME"] ?? "/nonexistent", ".stand-in-docker");
const args = process.argv.slice(2);
mkdirSync(join(folder, "containers"), { recursive: true });
appendFileSync(join(folder, "calls.jsonl"), `${JSON.stringify(args)}\n`);
if (existsSync(join(folder, "broken"))) {
  process.stderr.write(
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
  );
  process.exit(1);
}

const file = (id) => join(folder, "containers", id);
const read = (id) => JSON.parse(readFileSync(file(id), "utf8"));
// Completely or not at all: others read it meanwhile.
const write = (container) => {
  const draft = join(folder, `draft-${process.pid}`);
  writeFileSync(draft, JSON.stringify(container));
  renameSync(draft, file(container.Id));
};
/** One may be removed during the read. */
const all = () =>
  readdirSync(join(folder, "containers")).flatMap((id) => {
    try {
      return [read(id)];
    } catch {
      return [];
    }
  });
const values = (name) => args.flatMap((arg, at) => (arg === name ? [args[at + 1]] : []));

/** Everything behind the options that take no value or one. */
function rest(withValue) {
  let at = 1;
  while (args[at]?.startsWith("-")) at += withValue.test(args[at]) && !args[at].includes("=") ? 2 : 1;
  return args.slice(at);
}

function stayWithCaller() {
  const caller = process.ppid;
  setInterval(() => process.ppid === caller || process.exit(0), 100);
}

function reportStarts(since) {
  const told = new Set();
  setInterval(() => {
    for (const { Id, Created } of all()) {
      if (told.has(Id) || Date.parse(Created) < since - 10_000) continue;
      told.add(Id);
      process.stdout.write(`${JSON.stringify({ id: Id, Actor: { ID: Id }, status: "start", Action: "start" })}\n`);
    }
  }, 50);
}

switch (args[0]) {
  case "ps": {
    const labels = values("--filter").map((filter) => filter.replace(/^label=/, ""));
    const running = !args.some((arg) => /^(-a|--all|-qa|-aq)$/.test(arg));
    const found = all().filter(
      ({ Config, State }) =>
        labels.every((label) => Config.Labels[label.split("=")[0]] === label.split("=")[1]) &&
        (!running || State.Status === "running"),
    );
    const [format = "{{.ID}}"] = values("--format");
    for (const { Id, State, Config } of found) {
      const text = format.replace("{{.ID}}", Id).replace("{{.State}}", State.Status);
      process.stdout.write(`${text.replace(/\{\{\.Label "([^"]*)"\}\}/, (_all, name) => Config.Labels[name] ?? "")}\n`);
    }
    break;
  }
  case "inspect": {
    const type = values("--type")[0];
    const ids = rest(/^--type$/);
    if (type === "image") {
      const image = {
        Id: "sha256:1",
        Architecture: "amd64",
        Os: "linux",
        Config: { User: "", Env: ["PATH=/usr/bin:/bin"], Labels: {}, Entrypoint: null, Cmd: null },
      };
      process.stdout.write(JSON.stringify(ids.map(() => image)));
    } else {
      process.stdout.write(JSON.stringify(ids.filter((id) => existsSync(file(id))).map(read)));
    }
    break;
  }
  case "run": {
    const id = `c${String(all().length + 1).padStart(11, "0")}`;
    const extra = existsSync(join(folder, "extra.json"))
      ? JSON.parse(readFileSync(join(folder, "extra.json"), "utf8"))
      : {};
    const mounts = values("--mount").map((text) =>
      Object.fromEntries(text.split(",").map((field) => field.split("="))),
    );
    write({
      Id: id,
      Created: new Date().toISOString(),
      Name: `/${id}`,
      State: { Status: "running", StartedAt: new Date().toISOString(), FinishedAt: "0001-01-01T00:00:00Z" },
      Config: {
        Image: "image",
        User: "root",
        Env: ["PATH=/usr/bin:/bin"],
        Labels: Object.fromEntries(
          values("-l").map((label) => [label.slice(0, label.indexOf("=")), label.slice(label.indexOf("=") + 1)]),
        ),
      },
      HostConfig: {
        Privileged: args.includes("--privileged"),
        CapAdd: values("--cap-add"),
        SecurityOpt: values("--security-opt"),
        NetworkMode: args.includes("--network=none") ? "none" : "bridge",
        ...extra,
      },
      Mounts: mounts.map(({ type, source, src, target, dst, ...rest }) => ({
        Type: type,
        Source: source ?? src,
        Destination: target ?? dst,
        RW: !("readonly" in rest),
      })),
      NetworkSettings: { Ports: {} },
    });
    process.stdout.write("Container started\n");
    // Like an engine's client: it stays attached while its caller lives.
    stayWithCaller();
    break;
  }
  case "start":
  case "stop":
  case "kill": {
    const id = args.at(-1);
    const container = read(id);
    container.State.Status = args[0] === "start" ? "running" : "exited";
    write(container);
    if (args[0] !== "start")
      for (const pid of container.Pids ?? [])
        try {
          process.kill(-pid, "SIGKILL");
        } catch {}
    break;
  }
  case "rm": {
    const id = args.at(-1);
    for (const pid of existsSync(file(id)) ? (read(id).Pids ?? []) : [])
      try {
        process.kill(-pid, "SIGKILL");
      } catch {}
    rmSync(file(id), { force: true });
    break;
  }
  case "exec": {
    const [id, command, ...words] = rest(/^(-u|-w|-e|--user|--workdir|--env)$/);
    const container = read(id);
    if (container.State.Status !== "running") {
      process.stderr.write(`Error response from daemon: container ${id} is not running\n`);
      process.exit(1);
    }
    const env = { HOME: "/root", PATH: "/usr/bin:/bin", HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"] ?? "" };
    for (const pair of [...values("-e"), ...values("--env")])
      env[pair.slice(0, pair.indexOf("="))] = pair.slice(pair.indexOf("=") + 1);
    // The container's root directory is this machine's, with its mounts and an empty home.
    const home = join(folder, "home");
    mkdirSync(home, { recursive: true });
    const mounts = container.Mounts.toSorted(
      (one, other) => one.Destination.split("/").length - other.Destination.split("/").length,
    );
    const binds = mounts.flatMap(({ Source, Destination, RW }) => [RW ? "--bind" : "--ro-bind", Source, Destination]);
    const place = values("-w").flatMap((path) => ["--chdir", path]);
    const box = ["--dev-bind", "/", "/", "--tmpfs", "/run", "--bind", home, "/root", ...binds, ...place, "--"];
    const child = spawn("bwrap", [...box, command, ...words], {
      stdio: "inherit",
      env,
      detached: !process.stdin.isTTY,
    });
    // Like an engine: its process keeps running when the client is gone.
    container.Pids = [...(container.Pids ?? []), child.pid];
    write(container);
    child.on("exit", (code, signal) => process.exit(signal === null ? code : 137));
    child.on("error", () => process.exit(127));
    break;
  }
  case "version":
    process.stdout.write(args.includes("--format") ? "24.0.0\n" : "Docker version 24.0.0\n");
    break;
  case "-v":
  case "--version":
    process.stdout.write("Docker version 24.0.0, build stand-in\n");
    break;
  case "events":
    // The CLI waits for this before it starts its container: as long as a test needs.
    if (!existsSync(join(folder, "silent"))) reportStarts(Date.now());
    stayWithCaller();
    break;
  case "pull":
    break;
  default:
    process.stderr.write(`stand-in: unknown command ${args[0]}\n`);
    process.exit(1);
}
