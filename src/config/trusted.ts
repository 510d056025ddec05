/** What counts of a repository's file: all of it once the user trusts it, the harmless settings until then. */
import { realpathSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import type { SettingsTrust } from "../ports/projects.ts";
import type { TrustAnswers, TrustQuestion } from "../ports/trust.ts";
import { isOff, type TrustState } from "../contract/trust.ts";
import { refusedAgents } from "./refused-agents.ts";
import type { HoldfastConfig, UserConfig } from "./schema.ts";
import { digestOfParts, trustParts, withoutTrust } from "./trust-parts.ts";

export interface Judged {
  config: HoldfastConfig;
  trust: SettingsTrust;
}

/** For a repository that no file describes. */
export const noFile: Judged = { config: {}, trust: { state: "none", digest: null, notices: [] } };

export function questionOf(file: string, config: HoldfastConfig, user: UserConfig): TrustQuestion {
  const parts = trustParts(config);
  return { file, parts, digest: digestOfParts(parts), notices: ignored(file, config, user) };
}

export function judge(
  file: string,
  config: HoldfastConfig,
  of: { path: string; user: UserConfig; answers: TrustAnswers },
): Judged {
  if (!isWithin(dirname(file), of.path)) {
    // Registered by a version that allowed it.
    const notice = `${file} describes ${of.path}, which is outside its directory, and does not count. Register the repository itself: holdfast project add ${of.path}`;
    return { config: {}, trust: { state: "none", digest: null, notices: [notice] } };
  }
  const { parts, digest, notices } = questionOf(file, config, of.user);
  const state: TrustState = parts.length === 0 ? "none" : of.answers.stateOf(file, digest);
  return { config: isOff(state) ? withoutTrust(config) : config, trust: { state, digest, notices } };
}

/** With links resolved: a committed link may lead anywhere. */
export function isWithin(directory: string, path: string): boolean {
  const way = relative(real(directory), real(path));
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** What a repository may never say, in an older file or a hostile one. */
function ignored(file: string, config: HoldfastConfig, user: UserConfig): string[] {
  return [
    ...(config.notify === undefined
      ? []
      : [`notify in ${file} is ignored. Set notify in your own config.yaml instead.`]),
    ...refusedAgents(config, user).map(
      (id) =>
        `agents.${id} in ${file} is ignored: a repository cannot replace the agent ${id}. Give its agent another name.`,
    ),
  ];
}
