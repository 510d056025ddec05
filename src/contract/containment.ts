/**
 * How far a session is shut in. Recorded with the session; sessions of older logs have none and are not contained. Who may
 * request what: the user anything, a repository's file and an agent only as much containment as is set already, or more.
 */

export const containModes = ["off", "worktree", "devcontainer"] as const;
export type ContainMode = (typeof containModes)[number];

/** `on`: the machine's own network. `allow`: only these hosts, through a proxy of ours. */
export type ContainNetwork = "on" | "off" | { allow: string[] };

export interface Containment {
  mode: ContainMode;
  network: ContainNetwork;
  /** Visible beside the worktree: absolute paths, paths that begin with `~/`, or names of package caches. */
  read: string[];
  /** The same, and writable. */
  write: string[];
  /** The user accepted the repository's devcontainer.json for this session. */
  trustDevcontainer?: boolean;
}

/** A requested containment; omitted fields keep their defaults. */
export interface ContainmentWish {
  mode?: ContainMode | undefined;
  network?: ContainNetwork | undefined;
  read?: string[] | undefined;
  write?: string[] | undefined;
  trustDevcontainer?: boolean | undefined;
}

export const notContained: Containment = { mode: "off", network: "on", read: [], write: [] };

/** Package caches that a configuration names instead of paths. */
export const namedCaches: Readonly<Record<string, readonly string[]>> = {
  npm: ["~/.npm"],
  pnpm: ["~/.local/share/pnpm/store"],
  yarn: ["~/.cache/yarn", "~/.yarn/berry"],
  pip: ["~/.cache/pip"],
  uv: ["~/.cache/uv"],
  cargo: ["~/.cargo/registry", "~/.cargo/git"],
  go: ["~/go/pkg/mod", "~/.cache/go-build"],
  gradle: ["~/.gradle/caches"],
  maven: ["~/.m2/repository"],
};

/** The user's own request: replaces the defaults field by field. */
export function withWish(base: Containment, wish: ContainmentWish): Containment {
  return {
    mode: wish.mode ?? base.mode,
    network: wish.network ?? base.network,
    read: wish.read ?? base.read,
    write: wish.write ?? base.write,
    ...(wish.trustDevcontainer === true ? { trustDevcontainer: true } : {}),
  };
}

/**
 * What a repository's file may change: it can shut a session in further and never open it. Its `read` and `write` would
 * open it, so they apply only if the user trusts that file and sets nothing else.
 */
export function tightenedBy(person: ContainmentWish, repository: ContainmentWish, trusted: boolean): Containment {
  const base = withWish(notContained, person);
  const lists = trusted ? { read: repository.read, write: repository.write } : {};
  return {
    mode: base.mode === "off" ? (repository.mode ?? "off") : base.mode,
    network: narrower(base.network, repository.network ?? "on"),
    read: person.read ?? lists.read ?? [],
    write: person.write ?? lists.write ?? [],
  };
}

/** What an agent gets for a session that it starts: never less contained than its own. */
export function atLeast(own: Containment, asked: Containment): Containment {
  if (own.mode === "off") return asked;
  return {
    mode: own.mode,
    network: narrower(own.network, asked.network),
    read: asked.read.filter((path) => own.read.includes(path) || own.write.includes(path)),
    write: asked.write.filter((path) => own.write.includes(path)),
  };
}

function narrower(one: ContainNetwork, other: ContainNetwork): ContainNetwork {
  if (one === "off" || other === "off") return "off";
  if (one === "on") return other;
  if (other === "on") return one;
  return { allow: one.allow.filter((host) => other.allow.includes(host)) };
}

/** `on`, `off`, `allow-list`, or hosts separated by commas; null if invalid. */
export function parseNetwork(text: string): ContainNetwork | null {
  if (text === "on" || text === "off") return text;
  if (text === allowListWord) return { allow: [] };
  const allow = text.split(",").map((host) => host.trim());
  return allow.every((host) => hostPattern.test(host)) ? { allow } : null;
}

/** An allow list that names no host: the agent reaches its own models. */
const allowListWord = "allow-list";

/** `host`, `host:port`, `*.host` for everything below it, or `*` for every public host. */
export const hostPattern =
  /^(\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

/** For a line of a list. */
export function describeContainment({ mode, network }: Containment): string {
  if (mode === "off") return "off";
  const net =
    network === "on"
      ? "network on"
      : network === "off"
        ? "network off"
        : `network ${network.allow.join(", ") || allowListWord}`;
  return `${mode}, ${net}`;
}
