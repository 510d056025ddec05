/**
 * One token at one host: where it comes from, and when the host may be asked again. The token exists here and in the
 * request header only: no message, log or argument contains it. Sources for the public service are never used for a
 * self-hosted instance.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Run } from "../../base/run.ts";
import { quoteShellWord } from "../../model/text.ts";
import type { TrackerSettings } from "../../ports/tracker.ts";
import { isLoopback, Limits, Unanswered } from "./http.ts";
import { trackers } from "./registry.ts";

export interface TokenSources {
  env: Readonly<Record<string, string | undefined>>;
  run: Run;
  /** The directory of the user's config.yaml. */
  configDir: string;
}

export type Token = { found: true; value: string; from: string } | { found: false; why: string };

/** gh starts in 50 ms; a keyring may take longer. */
const ghDeadlineMs = 5000;

export async function findToken(settings: TrackerSettings, sources: TokenSources): Promise<Token> {
  const { title, variables, selfHostedVariables } = trackers[settings.type];
  if (settings.tokenRefused === true) return { found: false, why: `No token for ${title}: ${settings.refused}` };
  if (settings.tokenEnv !== null) {
    const value = sources.env[settings.tokenEnv];
    if (value !== undefined && value.trim() !== "") return checked(value, `$${settings.tokenEnv}`);
    const why = `No token for ${title}: the daemon's environment variable ${settings.tokenEnv} is not set.`;
    return { found: false, why };
  }
  const host = settings.baseUrl === null ? null : new URL(settings.baseUrl).host;
  // A repository can name any host, so only hosts in the user's config.yaml get a variable of this machine.
  const names = host === null ? variables : settings.isBound === true ? selfHostedVariables : [];
  for (const variable of names) {
    const value = sources.env[variable];
    if (value !== undefined && value.trim() !== "") return checked(value, `$${variable}`);
  }
  // gh identifies hosts by name only; another port of the same machine may be another service.
  const hasGh = settings.type === "github" && host?.includes(":") !== true;
  if (hasGh) {
    const argv = ["gh", "auth", "token", "--hostname", host ?? "github.com"];
    const result = await sources.run(argv, { deadlineMs: ghDeadlineMs, env: withoutTokens(sources.env) });
    if (result?.code === 0 && result.stdout.trim() !== "") return checked(result.stdout, "`gh auth token`");
  }
  const file = join(sources.configDir, `${settings.type}-token${host === null ? "" : `-${host}`}`);
  const inFile = await readTokenFile(file);
  if (inFile !== null) return inFile;
  const binding = `name the host in your config.yaml: trackers: {"${host}": {type: ${settings.type}, tokenEnv: ...}}`;
  const set = host !== null && settings.isBound !== true ? binding : `set ${names[0] ?? "tokenEnv's variable"}`;
  const login = `gh auth login${host === null ? "" : ` --hostname ${host}`}`;
  const gh = hasGh ? `, log in with \`${login}\`` : "";
  return { found: false, why: `No token for ${title}: ${set}${gh}, or write one to ${file} (mode 0600).` };
}

/** If one of these is set, gh returns it for any host; only its own store knows which token belongs to which host. */
function withoutTokens(env: TokenSources["env"]): TokenSources["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GH|GITHUB)_(.*_)?TOKEN$/.test(name)));
}

async function readTokenFile(file: string): Promise<Token | null> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      return {
        found: false,
        why: `The token in ${file} is readable by other users. Run \`chmod 600 ${quoteShellWord(file)}\`.`,
      };
    }
    return checked(await readFile(file, "utf8"), file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : { found: false, why: `The token in ${file} cannot be read (${code}).` };
  }
}

/** A line break would end the header early. */
function checked(value: string, from: string): Token {
  const token = value.trim();
  if (/^[\u0021-\u007E]+$/.test(token)) return { found: true, value: token, from };
  return { found: false, why: `The token from ${from} is invalid: it is empty or contains whitespace.` };
}

/** Picks up a changed token without a restart. */
const tokenAgeMs = 10 * 60_000;
/** A missing token is looked up again soon, but gh is not started for every request. */
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

  /** Throws `Unanswered` if there is no token, or if it would be sent unencrypted. */
  async token(): Promise<string> {
    const base = this.#settings.baseUrl === null ? null : new URL(this.#settings.baseUrl);
    if (base !== null && base.protocol !== "https:" && !isLoopback(base)) {
      throw new Unanswered(`Refusing to send a token to ${base.origin} without https.`);
    }
    if (this.#token === null || this.#token.until < this.now()) {
      const looking = { token: this.#find(), until: Infinity };
      this.#token = looking;
      const found = await looking.token;
      looking.until = this.now() + (found.found ? tokenAgeMs : missingAgeMs);
    }
    const token = await this.#token.token;
    if (!token.found) throw new Unanswered(token.why, null, "missing");
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
