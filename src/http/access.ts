/**
 * Who may ask over TCP: whoever holds the main token (a 0600 file), or a browser token that a one-time login link or
 * the passphrase was traded for. No cookies: they ignore ports, so an agent's own dev server would receive ours.
 */
import { crypto } from "../base/crypto.ts";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { writeDurable } from "../base/durable-file.ts";
import type { Logger } from "../ports/commands.ts";
import { createBrowserTokens, digestOf, newToken } from "./browser-tokens.ts";
import type { AuthMode } from "./hosts.ts";
import { createLockout, type Settings } from "./lockout.ts";
import { readPassphrase } from "./passphrase.ts";
import { Refusal } from "./refusal.ts";

/** Long enough to open a browser over SSH, short enough to be useless in a scrollback. */
const codeLifeMs = 5 * 60_000;
const maxCodes = 32;

export type Bearer = { bearer: "main" } | { bearer: "browser"; id: string };

export interface Access {
  readonly mode: AuthMode;
  readonly hasPassphrase: boolean;
  check(token: string): Bearer | null;
  issueCode(): { code: string; expiresAt: number };
  /** A browser token for a one-time code or the passphrase. */
  login(proof: { code?: string | undefined; passphrase?: string | undefined }): Promise<string>;
  revoke(id: string): Promise<boolean>;
  revokeAll(): Promise<number>;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

export interface AccessOptions {
  tokenFile: string;
  passphraseFile: string;
  mode: AuthMode;
  settings: Settings;
  now: () => number;
  log?: Logger;
}

export function openAccess(options: AccessOptions): Access {
  const { now, settings, mode } = options;
  const warn = (message: string, cause: unknown): void => options.log?.warn(message, { cause: String(cause) });
  const token = readOrCreateToken(options.tokenFile);
  let digest: Buffer | undefined;
  const mainDigest = (): Buffer => (digest ??= crypto().hash("sha256", token, "buffer"));
  const passphrase = mode === "passphrase" ? readPassphrase(options.passphraseFile, warn) : null;
  const tokens = createBrowserTokens(settings, now, warn);
  const lockout = createLockout(settings, now);
  const codes = new Map<string, number>();
  // One guess at a time: parallel ones could all be begun before the first was counted, and each takes 32 MiB.
  let lastGuess: Promise<unknown> = Promise.resolve();

  const redeemCode = (code: string): Promise<string> => {
    const digest = digestOf(code);
    const expiresAt = codes.get(digest);
    // Gone before anything is awaited: of two that come at once only one gets in.
    codes.delete(digest);
    if (expiresAt === undefined || expiresAt <= now()) {
      throw new Refusal("unauthorized", "This login link was used already or has expired.", {
        hint: "Run `holdfast dashboard` for a new one.",
      });
    }
    return tokens.issue();
  };

  const guess = async (given: string): Promise<string> => {
    if (passphrase === null) {
      throw new Refusal("forbidden", "This daemon takes login links, not a passphrase.", {
        hint: "Run `holdfast dashboard` for a login link.",
      });
    }
    const { left } = await lockout.begin();
    if (!(await passphrase.verify(given))) {
      options.log?.warn("a wrong passphrase was given", { attemptsLeft: left });
      throw new Refusal("unauthorized", "The passphrase is not right.", {
        hint: left === 0 ? "No more attempts for now." : `${left} more before a pause.`,
      });
    }
    await lockout.succeeded();
    return tokens.issue();
  };

  return {
    mode,
    hasPassphrase: passphrase !== null,
    check: (token) => {
      if (crypto().timingSafeEqual(crypto().hash("sha256", token, "buffer"), mainDigest())) return { bearer: "main" };
      const id = tokens.check(token);
      return id === null ? null : { bearer: "browser", id };
    },
    issueCode: () => {
      for (const [digest, expiresAt] of codes) if (expiresAt <= now()) codes.delete(digest);
      const oldest = codes.keys().next().value;
      if (codes.size >= maxCodes && oldest !== undefined) codes.delete(oldest);
      const code = newToken();
      const expiresAt = now() + codeLifeMs;
      codes.set(digestOf(code), expiresAt);
      return { code, expiresAt };
    },
    login: async ({ code, passphrase: given }) => {
      if ((code === undefined) === (given === undefined)) {
        throw new Refusal("invalid", "Give either a code or the passphrase.");
      }
      if (code !== undefined) return redeemCode(code);
      const mine = lastGuess.then(() => guess(given ?? ""));
      lastGuess = mine.catch(() => undefined);
      return mine;
    },
    revoke: (id) => tokens.revoke(id),
    revokeAll: () => tokens.revokeAll(),
    settled: async () => {
      await passphrase?.settled;
      await lastGuess;
      await tokens.settled();
    },
  };
}

const tokenShape = /^[A-Za-z0-9_-]{43}$/;

/** A damaged file is replaced: nothing but this token is lost, and that was unusable. */
function readOrCreateToken(file: string): string {
  try {
    const token = readFileSync(file, "utf8").trim();
    if (tokenShape.test(token)) {
      if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
      return token;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const token = newToken();
  writeDurable(file, `${token}\n`);
  return token;
}
