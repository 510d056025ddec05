/**
 * Clean and smudge filters are programs that a repository's configuration names. Reading and saving never run any: they
 * use the raw bytes. A checkout runs those in your (global or system) configuration, and of the repository's only
 * the exact commands that well-known tools write there.
 */
import { hookOff, type ConfigEntry } from "./git-rules.ts";
import { runGit, type GitCall } from "./git.ts";

export interface Filters {
  /** Turns every filter off. */
  none: ConfigEntry[];
  /** Turns off only filters that a checkout may not run. */
  checkout: ConfigEntry[];
  /** Filters of the repository's own configuration that a checkout skips. */
  leftOut: string[];
  /** Whether git may fetch missing objects on demand. */
  partial: boolean;
  /** No configuration changes how git registers a worktree: no format extension, no sparse checkout. */
  plain: boolean;
}

interface Setting {
  scope: string;
  key: string;
  value: string;
}

/** What `git lfs install --local` and `git-crypt init` write; anything else may be any program. */
const knownCommands = new Set([
  "git-lfs clean -- %f",
  "git-lfs smudge -- %f",
  "git-lfs smudge --skip -- %f",
  "git-lfs filter-process",
  "git-lfs filter-process --skip",
  '"git-crypt" clean',
  '"git-crypt" smudge',
]);
/** With one of these, git-lfs itself would start a program that the repository names. */
const lfsPrograms = /^lfs\.(customtransfer\.|extension\.|standalonetransferagent)/;

/** Keys are in lower case. The opposite of `plain`. */
const changesRegistration =
  "^(extensions\\..*|core\\.(sparsecheckout|sparsecheckoutcone|sharedrepository|worktree)|worktree\\.userelativepaths)$";
const fetchesLater = "^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$";
/** Hooks in configuration; git-lfs reads the other two when it downloads. */
const namesPrograms = "^(hook\\..*|core\\.sshcommand|credential\\.(.*\\.)?helper)$";
const asked = `^(filter|lfs)\\.|${changesRegistration}|${fetchesLater}|${namesPrograms}`;

export async function readFilters(where: Pick<GitCall, "gitDir" | "worktree">): Promise<Filters> {
  const answer = await runGit("read", ["config", "--show-scope", "-z", "--get-regexp", asked], where);
  return decideFilters(parseScoped(answer.stdout));
}

/** Starts reading; a caller that never needs the result may ignore a failure. */
export function beginFilters(where: Pick<GitCall, "gitDir" | "worktree">): Promise<Filters> {
  const reading = readFilters(where);
  reading.catch(() => undefined);
  return reading;
}

/** Records of `<scope>\0<key>\n<value>\0`; a key without a value has no newline. */
export function parseScoped(text: string): Setting[] {
  const fields = text.split("\0");
  const settings: Setting[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const entry = fields[index + 1]!;
    const cut = entry.indexOf("\n");
    const key = cut < 0 ? entry : entry.slice(0, cut);
    settings.push({ scope: fields[index]!, key, value: cut < 0 ? "" : entry.slice(cut + 1) });
  }
  return settings;
}

export function decideFilters(settings: readonly Setting[]): Filters {
  const own = (setting: Setting): boolean => setting.scope === "local" || setting.scope === "worktree";
  const lfsRunsPrograms = settings.some((setting) => own(setting) && lfsPrograms.test(setting.key));
  const names = new Set<string>();
  const refused = new Set<string>();
  for (const setting of settings) {
    const parts = /^filter\.(.*)\.(clean|smudge|process|required)$/s.exec(setting.key);
    if (parts === null) continue;
    const name = parts[1]!;
    names.add(name);
    if (parts[2] === "required" || setting.value === "") continue;
    if (own(setting) && !knownCommands.has(setting.value)) refused.add(name);
    if (lfsRunsPrograms && setting.value.startsWith("git-lfs ")) refused.add(name);
  }
  const off = [...refused].sort();
  const partial = settings.some((setting) => new RegExp(fetchesLater).test(setting.key));
  const hooks = settings.flatMap(({ key }) => hookOff(key));
  const plain = !settings.some((setting) => new RegExp(changesRegistration).test(setting.key));
  return {
    none: [...[...names].flatMap(turnOff), ...hooks],
    checkout: [...off.flatMap(turnOff), ...hooks, ...personsAccess(settings, own)],
    leftOut: off,
    partial,
    plain,
  };
}

/** For filters that download: your own ssh command and credential helpers, never the repository's. */
function personsAccess(settings: readonly Setting[], isOwn: (setting: Setting) => boolean): ConfigEntry[] {
  const persons = settings.filter((setting) => !isOwn(setting));
  const helpers = settings.filter(({ key }) => key.startsWith("credential."));
  const ssh = persons.findLast(({ key }) => key === "core.sshcommand")?.value ?? "ssh";
  // An empty value clears all earlier helpers for the same address.
  const dropped = new Set(["credential.helper", ...helpers.filter(isOwn).map(({ key }) => key)]);
  const kept = helpers.filter((setting) => !isOwn(setting));
  return [
    ["core.sshCommand", ssh],
    ...[...dropped].map((key): ConfigEntry => [key, ""]),
    ...kept.map(({ key, value }): ConfigEntry => [key, value]),
  ];
}

/** git takes an empty command as "no filter"; `required` would make that an error. */
function turnOff(name: string): ConfigEntry[] {
  return [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ];
}
