/**
 * Describes what a devcontainer.json would do, for the user to judge before any of it runs. Nothing here decides: the
 * file is used once the user trusts it.
 */
import { isAbsolute, join, resolve } from "node:path";
import { isWithin } from "../mounts.ts";

export type DevcontainerConfig = Readonly<Record<string, unknown>>;

export interface Judgment {
  /** Commands, images and mounts to trust. */
  does: string[];
  /** Ways out of the container. */
  dangers: string[];
  /** Requests that are never granted. */
  ignored: string[];
  /** Why Holdfast cannot use it at all. */
  unsupported: string[];
}

export interface Around {
  worktree: string;
  home: string;
  /** Holdfast's own folders. */
  hidden: readonly string[];
}

const commands = [
  "onCreateCommand",
  "updateContentCommand",
  "postCreateCommand",
  "postStartCommand",
  "postAttachCommand",
];

export function judge(config: DevcontainerConfig, around: Around): Judgment {
  const judgment: Judgment = { does: [], dangers: [], ignored: [], unsupported: [] };
  if (config["dockerComposeFile"] !== undefined) {
    judgment.unsupported.push("it uses Docker Compose; Holdfast supports an image or a Dockerfile");
  }
  if (config["workspaceMount"] !== undefined)
    judgment.ignored.push("workspaceMount: Holdfast mounts the worktree at its own path");
  if (config["initializeCommand"] !== undefined) {
    judgment.ignored.push(`initializeCommand, which would run on this machine: ${shown(config["initializeCommand"])}`);
  }
  if (typeof config["image"] === "string") judgment.does.push(`runs the image ${config["image"]}`);
  judgeBuild(config, around, judgment);
  for (const feature of Object.keys(objectOf(config["features"])))
    judgment.does.push(`installs the feature ${feature}`);
  for (const name of commands) {
    if (config[name] !== undefined) judgment.does.push(`runs ${name} in the container: ${shown(config[name])}`);
  }
  for (const port of listOf(config["appPort"])) judgment.does.push(`publishes port ${shown(port)}`);
  for (const mount of listOf(config["mounts"])) judgeMount(mount, around, judgment);
  judgeRights(config, judgment);
  judgeRunArgs(listOf(config["runArgs"]).map(String), around, judgment);
  return judgment;
}

/** Docker sends the entire context to the engine; one outside the worktree would put the home into an image. */
function judgeBuild(config: DevcontainerConfig, { worktree }: Around, judgment: Judgment): void {
  const build = objectOf(config["build"]);
  const file = build["dockerfile"] ?? config["dockerFile"];
  if (file === undefined) return;
  judgment.does.push(`builds an image from ${shown(file)}`);
  const folder = join(worktree, ".devcontainer");
  for (const path of [file, build["context"] ?? config["context"] ?? "."]) {
    if (typeof path === "string" && !isWithin(resolve(folder, path), worktree)) {
      judgment.unsupported.push(`its build uses ${path}, which is outside the repository`);
    }
  }
  for (const option of listOf(build["options"])) judgment.dangers.push(`passes ${shown(option)} to the image build`);
}

function judgeRights(config: DevcontainerConfig, judgment: Judgment): void {
  if (config["privileged"] === true) judgment.dangers.push("runs privileged: it can control this machine");
  for (const right of listOf(config["capAdd"])) {
    judgment.dangers.push(`adds the capability ${shown(right).toUpperCase().replace(/^CAP_/, "")}`);
  }
  for (const option of listOf(config["securityOpt"]))
    judgment.dangers.push(`sets the security option ${shown(option)}`);
}

function judgeDevice(path: unknown, judgment: Judgment): void {
  judgment.dangers.push(`gets the device ${shown(path)}`);
}

/** Options known to stay inside. All others are shown: docker has more than a hundred. */
const harmless =
  /^--(name|hostname|shm-size|memory|cpus|env|label|init|rm|workdir|user|ulimit|tmpfs|memory-swap|pids-limit|read-only|platform)(=|$)/;

function judgeRunArgs(args: readonly string[], around: Around, judgment: Judgment): void {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    // `--option value` and `--option=value` are the same.
    const joined = arg.startsWith("-") && !arg.includes("=") && args[at + 1]?.startsWith("-") === false;
    const option = joined ? `${arg}=${args[++at]!}` : arg;
    const [name, value] = splitOnce(option, "=");
    if (name === "--mount") judgeMount(value, around, judgment);
    else if (name === "-v" || name === "--volume") judgeMount(volumeAsMount(value), around, judgment);
    else if (name === "--privileged") judgeRights({ privileged: true }, judgment);
    else if (name === "--cap-add") judgeRights({ capAdd: value }, judgment);
    else if (name === "--security-opt") judgeRights({ securityOpt: value }, judgment);
    else if (name === "--device") judgeDevice(splitOnce(value, ":")[0], judgment);
    else if (/^--(network|net|pid|ipc|uts|userns|cgroupns)$/.test(name) && value === "host") {
      judgment.dangers.push(`shares this machine's ${name.slice(2).replace(/^net$/, "network")} namespace`);
    } else if (!harmless.test(option)) judgment.dangers.push(`passes ${option} to the container engine`);
  }
}

function judgeMount(mount: unknown, around: Around, judgment: Judgment): void {
  const { source, target } = mountOf(mount, around);
  if (source === null) return void judgment.does.push(`keeps a volume at ${target}`);
  if (!isAbsolute(source)) return void judgment.does.push(`mounts the volume ${source} at ${target}`);
  if (isWithin(source, around.worktree)) {
    // The engine follows links whenever it starts the container, and the agent can create them there.
    judgment.unsupported.push(`it mounts ${source} of the worktree, which is already mounted`);
  } else if (around.hidden.some((folder) => isWithin(folder, source) || isWithin(source, folder))) {
    judgment.unsupported.push(`it mounts ${source}, which contains Holdfast's own files`);
  } else if (isSocket(source)) {
    judgment.dangers.push(`mounts ${source}: with the engine's socket it can control this machine`);
  } else if (isWithin(around.home, source)) {
    judgment.dangers.push(`mounts ${source}, which contains your home`);
  } else if (isWithin(source, around.home)) {
    judgment.dangers.push(`mounts ${source} of your home at ${target}`);
  } else {
    judgment.dangers.push(`mounts ${source} of this machine at ${target}`);
  }
}

/** A mount as text or as an object; `source` is null for an unnamed volume. */
function mountOf(mount: unknown, around: Around): { source: string | null; target: string } {
  const fields =
    typeof mount === "string"
      ? Object.fromEntries(mount.split(",").map((field) => splitOnce(field, "=")))
      : (objectOf(mount) as Record<string, string | undefined>);
  const source = fields["source"] ?? fields["src"];
  const target = fields["target"] ?? fields["dst"] ?? fields["destination"] ?? "?";
  return { source: typeof source === "string" ? expanded(source, around) : null, target };
}

function volumeAsMount(volume: string): string {
  const parts = volume.split(":");
  return parts.length === 1 ? `target=${volume}` : `source=${parts[0]},target=${parts[1]}`;
}

/** As the devcontainer CLI does; a variable that it does not receive is empty there too. */
function expanded(path: string, { home, worktree }: Around): string {
  const filled = path
    .replaceAll(/\$\{(localEnv|env):([^:}]*)(?::([^}]*))?\}/g, (_all, _kind, name: string, other = "") =>
      name === "HOME" ? home : String(other),
    )
    .replaceAll("${localWorkspaceFolder}", worktree);
  return isAbsolute(filled) ? resolve(filled) : filled;
}

function isSocket(path: string): boolean {
  return /\.sock$|^\/(var\/)?run(\/|$)/.test(path);
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** The ways out of a container, as its engine reports them. */
export function dangersOf(inspected: unknown, around: Around & { ours: readonly string[] }): string[] {
  const judgment: Judgment = { does: [], dangers: [], ignored: [], unsupported: [] };
  const container = objectOf(inspected);
  const host = objectOf(container["HostConfig"]);
  // The CLI sets this for Podman.
  const options = listOf(host["SecurityOpt"] ?? []).filter((option) => option !== "label=disable");
  judgeRights({ privileged: host["Privileged"], capAdd: host["CapAdd"] ?? [], securityOpt: options }, judgment);
  for (const name of ["NetworkMode", "PidMode", "IpcMode", "UTSMode", "UsernsMode"]) {
    if (host[name] === "host")
      judgment.dangers.push(`shares this machine's ${name.replace("Mode", "").toLowerCase()} namespace`);
  }
  for (const device of listOf(host["Devices"] ?? [])) judgeDevice(objectOf(device)["PathOnHost"], judgment);
  for (const mount of listOf(container["Mounts"] ?? []).map(objectOf)) {
    if (mount["Type"] !== "bind" || around.ours.includes(String(mount["Source"]))) continue;
    judgeMount({ source: mount["Source"], target: mount["Destination"] }, around, judgment);
  }
  return [...judgment.dangers, ...judgment.unsupported];
}
