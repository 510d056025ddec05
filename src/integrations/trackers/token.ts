/**
 * Where a tracker's token is. It stays here and in the header of a request: no message, no log, no argument carries it.
 * The places for the public service are not used for an instance of one's own: a token goes only where it belongs.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Run } from "../../base/run.ts";
import type { TrackerSettings } from "../../ports/tracker.ts";
import { quoteShellWord } from "../../model/text.ts";

export interface TokenPlaces {
  env: Readonly<Record<string, string | undefined>>;
  run: Run;
  /** Where the person's `config.yaml` is. */
  configDir: string;
}

export type Token = { found: true; value: string; from: string } | { found: false; why: string };

/** `gh` starts in 50 ms; one that asks a keyring may take longer. */
const ghDeadlineMs = 5000;

const usual = {
  github: {
    name: "GitHub",
    here: ["GITHUB_TOKEN", "GH_TOKEN"],
    elsewhere: ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
  },
  gitlab: { name: "GitLab", here: ["GITLAB_TOKEN"], elsewhere: [] },
  linear: { name: "Linear", here: ["LINEAR_API_KEY"], elsewhere: [] },
} as const;

export async function findToken(settings: TrackerSettings, places: TokenPlaces): Promise<Token> {
  const { name, here, elsewhere } = usual[settings.type];
  if (settings.tokenRefused === true) return { found: false, why: `No token for ${name}: ${settings.refused}` };
  if (settings.tokenEnv !== null) {
    const value = places.env[settings.tokenEnv];
    if (value !== undefined && value.trim() !== "") return checked(value, `$${settings.tokenEnv}`);
    const why = `No token for ${name}: the variable ${settings.tokenEnv} is not set where the daemon runs.`;
    return { found: false, why };
  }
  const host = settings.baseUrl === null ? null : new URL(settings.baseUrl).host;
  // The host's name comes from the repository: only one that the user named gets a variable of this machine.
  const names = host === null ? here : settings.isBound === true ? elsewhere : [];
  for (const variable of names) {
    const value = places.env[variable];
    if (value !== undefined && value.trim() !== "") return checked(value, `$${variable}`);
  }
  // gh knows hosts by name alone; another port of the same machine may be another service.
  const ghKnows = settings.type === "github" && host?.includes(":") !== true;
  if (ghKnows) {
    const argv = ["gh", "auth", "token", "--hostname", host ?? "github.com"];
    const answer = await places.run(argv, { deadlineMs: ghDeadlineMs, env: withoutTokens(places.env) });
    if (answer?.code === 0 && answer.stdout.trim() !== "") return checked(answer.stdout, "`gh auth token`");
  }
  const file = join(places.configDir, `${settings.type}-token${host === null ? "" : `-${host}`}`);
  const inFile = await readTokenFile(file);
  if (inFile !== null) return inFile;
  const binding = `name the host in your config.yaml: trackers: {"${host}": {type: ${settings.type}, tokenEnv: ...}}`;
  const set = host !== null && settings.isBound !== true ? binding : `set ${names[0] ?? "tokenEnv's variable"}`;
  const login = `gh auth login${host === null ? "" : ` --hostname ${host}`}`;
  const gh = ghKnows ? `, log in with \`${login}\`` : "";
  return { found: false, why: `No token for ${name}: ${set}${gh}, or write one to ${file} (mode 0600).` };
}

/** With one of these set, gh answers with it for any host: only its own store knows which token belongs to which host. */
function withoutTokens(env: TokenPlaces["env"]): TokenPlaces["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GH|GITHUB)_(.*_)?TOKEN$/.test(name)));
}

async function readTokenFile(file: string): Promise<Token | null> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      return {
        found: false,
        why: `The token in ${file} can be read by others: run \`chmod 600 ${quoteShellWord(file)}\`.`,
      };
    }
    return checked(await readFile(file, "utf8"), file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : { found: false, why: `The token in ${file} cannot be read (${code}).` };
  }
}

/** A line break in it would end the header early. */
function checked(value: string, from: string): Token {
  const token = value.trim();
  if (/^[\u0021-\u007E]+$/.test(token)) return { found: true, value: token, from };
  return { found: false, why: `The token from ${from} is not one: it is empty or holds spaces or line breaks.` };
}
