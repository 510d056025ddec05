/**
 * Which variable may go to which host. A repository's file or remote only points to a tracker: the variables that hold
 * tokens and secrets are bound to hosts in the user's own config.yaml, or are the usual ones of a public service.
 */
import type { ProjectTracker } from "../ports/projects.ts";
import type { RemoteTracker } from "./git-config.ts";
import type { TrackerConfig, TrackerHosts } from "./schema.ts";

type Type = TrackerConfig["type"];

const publicHosts: Record<Type, string> = { github: "github.com", gitlab: "gitlab.com", linear: "linear.app" };

/** Variables that a token of the public service is in anyway: a file that names one of them changes nothing. */
const usual: Record<Type, readonly string[]> = {
  github: ["GITHUB_TOKEN", "GH_TOKEN"],
  gitlab: ["GITLAB_TOKEN"],
  linear: ["LINEAR_API_KEY"],
};

/** Null also if a tracker is named whose repository is not known; `needsRepo` tells these apart. */
export function resolveTracker(
  tracker: TrackerConfig | undefined,
  remote: RemoteTracker | null,
  hosts: TrackerHosts,
): ProjectTracker | null {
  if (tracker === undefined) return remote === null ? null : bound({ ...remote }, {}, hosts);
  const same = remote?.type === tracker.type ? remote : null;
  const repo = tracker.repo ?? same?.repo;
  if (repo === undefined) return null;
  return bound({ type: tracker.type, repo, baseUrl: tracker.baseUrl ?? same?.baseUrl ?? null }, tracker, hosts);
}

export function needsRepo(tracker: TrackerConfig | undefined, remote: RemoteTracker | null): boolean {
  return tracker !== undefined && tracker.repo === undefined && remote?.type !== tracker.type;
}

type Place = Pick<ProjectTracker, "type" | "repo" | "baseUrl">;

function bound(
  place: Place,
  said: Pick<TrackerConfig, "tokenEnv" | "webhookSecretEnv">,
  hosts: TrackerHosts,
): ProjectTracker {
  const { type, baseUrl } = place;
  const host = baseUrl === null ? publicHosts[type] : new URL(baseUrl).host;
  const entry = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  const own = entry?.type === type ? entry : undefined;
  const asUsual = baseUrl === null && usual[type].includes(said.tokenEnv ?? "");
  const refused = (["tokenEnv", "webhookSecretEnv"] as const).flatMap((key) => {
    const name = said[key];
    if (name === undefined || name === own?.[key] || (key === "tokenEnv" && asUsual)) return [];
    return [
      `${key} names ${name} for ${host}, which your own config.yaml does not bind to it. ` +
        `To allow it, add there: trackers: {"${host}": {type: ${type}, ${key}: ${name}}}`,
    ];
  });
  const tokenRefused = said.tokenEnv !== undefined && said.tokenEnv !== own?.tokenEnv && !asUsual;
  return {
    ...place,
    tokenEnv: tokenRefused ? null : (own?.tokenEnv ?? said.tokenEnv ?? null),
    webhookSecretEnv: own?.webhookSecretEnv ?? null,
    isBound: own !== undefined,
    refused: refused.length === 0 ? null : refused.join(" "),
    tokenRefused,
  };
}
