/**
 * A session's devcontainer.json. It is read once, before the first launch, and stored outside the worktree together
 * with Holdfast's own settings: the agent can change the file in its worktree, and the next launch must not trust it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "../../base/digest.ts";
import { makePrivateDirectory, writeDurable } from "../../base/durable-file.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { judge, type Around, type DevcontainerConfig, type Judgment } from "./judge.ts";

/** Parses JSON with comments and trailing commas. Throws a SyntaxError if it is invalid. */
export function parseJsonc(text: string): unknown {
  // Strings first, to keep `//` inside them. Line breaks stay, to keep positions in errors correct.
  const blank = (found: string): string => (found.startsWith('"') ? found : found.replaceAll(/[^\n]/g, " "));
  const plain = text.replace(/^\uFEFF/, "").replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, blank);
  return JSON.parse(plain.replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, blank));
}

export interface FoundConfig {
  path: string;
  config: DevcontainerConfig;
  /** Digest of the file's text: trust is for exactly this text. */
  digest: string;
}

const places = [".devcontainer/devcontainer.json", ".devcontainer.json"];

export function findConfig(worktree: string): FoundConfig {
  const name = places.find((place) => existsSync(join(worktree, place)));
  if (name === undefined) throw missing(worktree);
  const path = join(worktree, name);
  const text = readFileSync(path, "utf8");
  try {
    const config = parseJsonc(text);
    if (typeof config !== "object" || config === null || Array.isArray(config)) throw new Error("it is not an object");
    return { path, config: config as DevcontainerConfig, digest: digestOf(text) };
  } catch (error) {
    throw new HoldfastError("invalid", `${name} cannot be read: ${(error as Error).message}`, {
      hint: "Fix it, or start the session with --contain worktree.",
    });
  }
}

function missing(worktree: string): HoldfastError {
  const folder = join(worktree, ".devcontainer");
  const others = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "devcontainer.json")))
    : [];
  const why =
    others.length > 0 ? ` It has several below .devcontainer (${others.join(", ")}), which is not supported.` : "";
  return new HoldfastError("preflight-failed", `The repository has no ${places[0]}.${why}`, {
    hint: "Commit one, or start the session with --contain worktree.",
  });
}

/** Nothing starts from a file that is not trusted or not supported. */
export function assertUsable({ path, config }: FoundConfig, around: Around, isTrusted: boolean): Judgment {
  const judgment = judge(config, around);
  const { unsupported } = judgment;
  if (unsupported.length > 0) {
    throw new HoldfastError("invalid", `${path} cannot be used: ${unsupported.join("; ")}.`, {
      hint: "Start the session with --contain worktree.",
    });
  }
  if (!isTrusted) {
    throw new HoldfastError("preflight-failed", `${path} is not trusted. ${question(judgment)}`, {
      hint: "To allow exactly this, add --trust-devcontainer.",
    });
  }
  return judgment;
}

/** What the user is asked to trust. */
export function question({ does, dangers, ignored }: Judgment): string {
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [title, ...lines.map((line) => `  - ${line}`)];
  return [
    "It would start a container that:",
    ...[...does, "has the worktree and the session's git directory"].map((line) => `  - ${line}`),
    ...part("Ways out of the container:", dangers),
    ...part("Never done:", ignored),
  ].join("\n");
}

export interface Additions {
  worktree: string;
  /** `type=bind,...`, in docker's format. */
  mounts: readonly string[];
  network: "on" | "off";
}

/** The file that the devcontainer CLI reads instead of the repository's own. */
export function pinnedConfig(config: DevcontainerConfig, { worktree, mounts, network }: Additions): DevcontainerConfig {
  const { initializeCommand: _runsOutside, workspaceMount: _ours, ...rest } = config;
  const runArgs = Array.isArray(rest["runArgs"]) ? (rest["runArgs"] as unknown[]) : [];
  return {
    ...rest,
    // The same path inside and outside: agents and git use it.
    workspaceMount: bindMount(worktree, worktree),
    workspaceFolder: worktree,
    mounts: [...(Array.isArray(rest["mounts"]) ? (rest["mounts"] as unknown[]) : []), ...mounts],
    runArgs: [...runArgs, ...(network === "off" ? ["--network=none"] : [])],
  };
}

export function bindMount(source: string, target: string, readonly = false): string {
  if (/[,"\n]/.test(source + target)) {
    throw new HoldfastError("invalid", `A container cannot mount ${source}: its path contains a comma or a quote.`, {
      hint: "Use --contain worktree for this repository.",
    });
  }
  return `type=bind,source=${source},target=${target}${readonly ? ",readonly" : ""}`;
}

export interface Pinned {
  /** Digest of the trusted file. */
  digest: string;
  /** The path in the repository: relative paths in it start there. */
  path: string;
  /** The ways out that the user trusted. */
  dangers: string[];
}

export const pinnedFile = (folder: string): string => join(folder, "devcontainer.json");
const noteFile = (folder: string): string => join(folder, "pinned.json");

export function readPinned(folder: string): Pinned | null {
  try {
    return JSON.parse(readFileSync(noteFile(folder), "utf8")) as Pinned;
  } catch {
    return null;
  }
}

export function pin(folder: string, config: DevcontainerConfig, pinned: Pinned): void {
  makePrivateDirectory(folder);
  writeDurable(pinnedFile(folder), `${JSON.stringify(config, null, 2)}\n`);
  writeDurable(noteFile(folder), `${JSON.stringify(pinned)}\n`);
}
