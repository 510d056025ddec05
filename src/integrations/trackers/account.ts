/** One host and one token: where it is asked, with what, and when it may be asked again. */
import type { TrackerSettings } from "../../ports/tracker.ts";
import { isLoopback, Limits, Unanswered } from "./http.ts";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Run } from "../../base/run.ts";
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

/** A token that was changed is noticed without a restart. */
const tokenAgeMs = 10 * 60_000;
/** One that is missing is looked for again soon, but `gh` is not started for every question. */
const missingAgeMs = 10_000;

export class Account {
  readonly limits: Limits;
  readonly now: () => number;
  readonly #settings: TrackerSettings;
  readonly #find: () => Promise<Token>;
  #token: { token: Promise<Token>; until: number } | null = null;
  #secret: string | null = null;

  constructor(settings: TrackerSettings, now: () => number, find: () => Promise<Token>) {
    this.#settings = settings;
    this.now = now;
    this.#find = find;
    this.limits = new Limits(now);
  }

  /** Throws `Unanswered` where there is none, or where it would travel in the clear. */
  async token(): Promise<string> {
    const base = this.#settings.baseUrl === null ? null : new URL(this.#settings.baseUrl);
    if (base !== null && base.protocol !== "https:" && !isLoopback(base)) {
      throw new Unanswered(`${base.origin} is not asked: without https the token would be readable on the way.`);
    }
    if (this.#token === null || this.#token.until < this.now()) {
      const looking = { token: this.#find(), until: Infinity };
      this.#token = looking;
      const found = await looking.token;
      looking.until = this.now() + (found.found ? tokenAgeMs : missingAgeMs);
    }
    const token = await this.#token.token;
    if (!token.found) throw new Unanswered(token.why);
    this.#secret = token.value;
    return token.value;
  }

  get secret(): string | null {
    return this.#secret;
  }

  forget(): void {
    this.#token = null;
  }
}
