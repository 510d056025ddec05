/**
 * Access over TCP: with the main token (a 0600 file, for scripts), or from a browser whose key was enrolled with a login
 * link or the passphrase. A browser sends no secret, so a program on the daemon's port learns none; see
 * docs/decisions/0016. No cookies: they ignore ports, so an agent's own dev server would receive ours.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeDurable } from "../base/durable-file.ts";
import type { Logger } from "../ports/api.ts";
import type { LoginLinkRequest, LoginRequest } from "../contract/device.ts";
import { challengeHeader, loginText, type DeviceProof } from "../contract/device-proof.ts";
import type { Output } from "../contract/operations.ts";
import type { Right } from "../contract/rights.ts";
import { challengeLifeMs, createChallenges } from "./challenges.ts";
import { createDevices, idOf, type Device } from "./devices.ts";
import type { AuthMode } from "./hosts.ts";
import { createLockout, type Settings } from "./lockout.ts";
import { createLoginCodes } from "./login-codes.ts";
import { readPassphrase } from "./passphrase.ts";
import { Refusal } from "./response.ts";

const tokenBytes = 32;

/** `body`: digest of the body that the device signed. */
export type Bearer = { bearer: "main" } | { bearer: "device"; id: string; rights: Right; body: string };

/** The source of a request. `origin` is the page's, if the browser sent one. */
export interface From {
  origin: string | undefined;
  address: string | null;
  /** Whether a page of this origin is ours. */
  allowsOrigin: (origin: string) => boolean;
}

export type Access = ReturnType<typeof openAccess>;

export interface AccessOptions {
  tokenFile: string;
  passphraseFile: string;
  mode: AuthMode;
  settings: Settings;
  now: () => number;
  log?: Logger;
  /** Of a new passphrase; cheaper in tests. */
  iterations?: number;
}

export function openAccess(options: AccessOptions) {
  const { now, settings, mode, tokenFile } = options;
  const warn = (message: string, cause: unknown): void => options.log?.warn(message, { cause: String(cause) });
  let token = readOrCreateToken(tokenFile);
  let digest: Buffer | undefined;
  const mainDigest = (): Buffer => (digest ??= hash("sha256", token, "buffer"));
  const passphrase = mode === "passphrase" ? readPassphrase(options.passphraseFile, warn, options.iterations) : null;
  if (passphrase?.asked.salt === null) options.log?.warn("the passphrase was set by an earlier version: set it again");
  const devices = createDevices(settings, now, warn);
  const challenges = createChallenges(now);
  const codes = createLoginCodes(join(dirname(tokenFile), "login"), now);
  const lockout = createLockout(settings, now);
  // One guess at a time: parallel ones could all start before the first was counted.
  let lastGuess: Promise<unknown> = Promise.resolve();

  const guess = async (proof: string, text: string, address: string): Promise<void> => {
    if (passphrase === null) {
      throw new Refusal("forbidden", "This daemon accepts login links, not a passphrase.", {
        hint: "Run `holdfast dashboard` for a login link.",
      });
    }
    if (passphrase.asked.salt === null) throw setAgain();
    const { left } = await lockout.begin(address);
    if (!(await passphrase.verify(proof, text))) {
      options.log?.warn("wrong passphrase", { attemptsLeft: left });
      throw new Refusal("unauthorized", "Wrong passphrase.", {
        hint: left === 0 ? "No more attempts for now." : `${left} more before a pause.`,
      });
    }
    await lockout.succeeded(address);
  };

  return {
    mode,
    hasPassphrase: passphrase !== null,
    devices,
    check: (given: string): Bearer | null =>
      timingSafeEqual(hash("sha256", given, "buffer"), mainDigest()) ? { bearer: "main" } : null,

    /** Throws a refusal with the reason. */
    checkDevice: (
      proof: DeviceProof,
      request: { method: string; path: string },
      { origin, address, allowsOrigin }: From,
    ): Bearer => {
      const device = devices.get(proof.device);
      if (device === null) {
        throw new Refusal("logged-out", "This device is not logged in: it was revoked, or not used for 30 days.", {
          hint: "Run `holdfast dashboard` for a new login link.",
        });
      }
      // A page on another port can use the browser's key for that page, but that key is enrolled for its own origin.
      if (!allowsOrigin(device.origin) || (origin !== undefined && origin !== device.origin)) {
        throw new Refusal("unauthorized", `This device logged in at ${device.origin}, which is not this address.`, {
          hint: "Run `holdfast dashboard` for a new login link.",
        });
      }
      if (!devices.verify(device, proof, request)) {
        throw new Refusal("unauthorized", "The device's signature does not match this request.", {
          hint: "Reload the page. If it persists, log in again.",
        });
      }
      const taken = challenges.take(proof.nonce, proof.count, device.id);
      if (taken === "stale") {
        throw new Refusal("unauthorized", "The challenge that was signed has expired.", {
          hint: "Sign the one in this response.",
          headers: { [challengeHeader]: `${challenges.issue()} ${challengeLifeMs}` },
        });
      }
      if (taken === "replayed") {
        throw new Refusal("unauthorized", "This request was sent before.", { hint: "Sign each request separately." });
      }
      devices.seen(device, address);
      return { bearer: "device", id: device.id, rights: device.rights, body: proof.body };
    },

    challenge: (): Output<"challenge"> => ({
      nonce: challenges.issue(),
      lifeMs: challengeLifeMs,
      passphrase: passphrase?.asked ?? null,
    }),

    issueLink: (url: string, { rights = "all", name, for: whom = "here", file = false }: LoginLinkRequest) => {
      const { code, expiresAt } = codes.issue({ rights, name: name ?? null, for: whom });
      // After the #, which no browser sends and no server logs.
      const link = `${url}/#login=${code}`;
      return { url: link, expiresAt, file: file ? codes.writeFile(code, link) : null };
    },

    login: async ({ code, nonce, publicKey, proof, name }: LoginRequest, { origin, address }: From) => {
      if (origin === undefined) {
        throw new Refusal("invalid", "A login needs the header Origin: the key is enrolled for one page.", {
          hint: "Scripts use the main token instead: `Authorization: Bearer <token>`.",
        });
      }
      if (!challenges.isFresh(nonce)) {
        throw new Refusal("unauthorized", "The challenge that was signed has expired.", {
          hint: "Reload the page and log in again.",
        });
      }
      let granted: { rights: Right; name: string | null } = { rights: "all", name: null };
      if (code === undefined) {
        const mine = lastGuess.then(() => guess(proof, loginText({ nonce, origin, publicKey }), address ?? ""));
        lastGuess = mine.catch(() => undefined);
        await mine;
      } else granted = codes.redeem({ code, nonce, origin, publicKey, proof }, { name, address });
      // The proof is used up too: it would enroll the same key again after a revocation.
      if (challenges.take(nonce, 0, idOf(publicKey)) !== "taken") {
        throw new Refusal("unauthorized", "This login was sent before.", { hint: "Reload the page and log in again." });
      }
      return devices.enroll({ publicKey, origin, name: granted.name ?? name, rights: granted.rights, address });
    },

    revoke: devices.revoke,
    /** Also invalidates links that are not used yet. */
    revokeAll: (): Promise<Device[]> => {
      codes.clear();
      return devices.revokeAll();
    },
    /** Returns the token's file. */
    rotateToken: (): string => {
      token = createToken(tokenFile);
      digest = undefined;
      return tokenFile;
    },
    /** Resolves when no write is pending. */
    settled: async (): Promise<void> => {
      codes.clear();
      await passphrase?.settled;
      await lastGuess;
      await devices.settled();
    },
  };
}

function setAgain(): Refusal {
  return new Refusal("forbidden", "The passphrase was set by an earlier version and must be set again.", {
    hint: "On the daemon's machine: `holdfast stop`, then `holdfast start --passphrase-file <file>`. `holdfast pair` works meanwhile.",
  });
}

const tokenShape = /^[A-Za-z0-9_-]{43}$/;

/** Replaces a damaged file: its token was unusable anyway. */
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
  return createToken(file);
}

function createToken(file: string): string {
  const token = randomBytes(tokenBytes).toString("base64url");
  writeDurable(file, `${token}\n`);
  return token;
}
