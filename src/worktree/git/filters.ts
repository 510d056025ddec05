/**
 * Clean and smudge filters are programs that a repository's configuration names. Looking and saving never run any: the
 * raw bytes are what counts. A checkout runs those of the person's own (global or system) configuration, and of the
 * repository's configuration only the exact commands that well-known tools write there.
 */
import { hookOff, type ConfigEntry } from "./git-rules.ts";
import { runGit, type GitCall } from "./git.ts";

export interface Filters {
  /** Turns every filter off. */
  none: ConfigEntry[];
  /** Turns off only what a checkout may not run. */
  checkout: ConfigEntry[];
  /** Filters of the repository's own configuration that a checkout leaves out. */
  leftOut: string[];
  /** Whether objects may be missing that git would fetch when it comes upon one. */
  partial: boolean;
  /** Nothing is configured that changes how git registers a worktree: no extension of its format, no sparse checkout. */
  plain: boolean;
}

interface Setting {
  scope: string;
  key: string;
  value: string;
}

/** What `git lfs install --local` and `git-crypt init` write; anything else in a repository is somebody's program. */
const knownCommands = new Set([
  "git-lfs clean -- %f",
  "git-lfs smudge -- %f",
  "git-lfs smudge --skip -- %f",
  "git-lfs filter-process",
  "git-lfs filter-process --skip",
  '"git-crypt" clean',
  '"git-crypt" smudge',
]);
/** With one of these in the repository git-lfs itself would start a program that the repository names. */
const lfsPrograms = /^lfs\.(customtransfer\.|extension\.|standalonetransferagent)/;

/** Keys come in lower case. The second half is `plain`. */
const changesRegistration =
  "^(extensions\\..*|core\\.(sparsecheckout|sparsecheckoutcone|sharedrepository|worktree)|worktree\\.userelativepaths)$";
const fetchesLater = "^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$";
/** Hooks that configuration names; git-lfs asks for the other two when it downloads. */
const namesPrograms = "^(hook\\..*|core\\.sshcommand|credential\\.(.*\\.)?helper)$";
const asked = `^(filter|lfs)\\.|${changesRegistration}|${fetchesLater}|${namesPrograms}`;

export async function readFilters(where: Pick<GitCall, "gitDir" | "worktree">): Promise<Filters> {
  const answer = await runGit("look", ["config", "--show-scope", "-z", "--get-regexp", asked], where);
  return decideFilters(parseScoped(answer.stdout));
}

/** Begins to read; whoever never comes to need it need not handle a failure. */
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

/** For a filter that downloads: the person's own ssh command and credential helpers, and none of the repository's. */
function personsAccess(settings: readonly Setting[], isOwn: (setting: Setting) => boolean): ConfigEntry[] {
  const persons = settings.filter((setting) => !isOwn(setting));
  const helpers = settings.filter(({ key }) => key.startsWith("credential."));
  const ssh = persons.findLast(({ key }) => key === "core.sshcommand")?.value ?? "ssh";
  // An empty value drops every helper that was named before it, for the same address.
  const dropped = new Set(["credential.helper", ...helpers.filter(isOwn).map(({ key }) => key)]);
  const kept = helpers.filter((setting) => !isOwn(setting));
  return [
    ["core.sshCommand", ssh],
    ...[...dropped].map((key): ConfigEntry => [key, ""]),
    ...kept.map(({ key, value }): ConfigEntry => [key, value]),
  ];
}

/** An empty command is "no filter" to git; `required` would make that an error. */
function turnOff(name: string): ConfigEntry[] {
  return [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ];
}
