/**
 * Who may ask over TCP: whoever holds the main token (a 0600 file, for scripts), or a browser whose key was enrolled with
 * a login link or the passphrase. A browser sends no secret, so a program on the daemon's port learns none; see
 * docs/decisions/0016. No cookies: they ignore ports, so an agent's own dev server would receive ours.
 */
import { crypto } from "../base/digest.ts";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { writeDurable } from "../base/durable-file.ts";
import type { Logger } from "../ports/api.ts";
import type { LoginLinkRequest, LoginRequest } from "../contract/device.ts";
import { challengeHeader, loginText, type DeviceProof } from "../contract/device-proof.ts";
import type { Output } from "../contract/operations.ts";
import type { Right } from "../contract/rights.ts";
import { challengeLifeMs, createChallenges } from "./challenges.ts";
import { createDevices, idOf, type Device, type Devices } from "./devices.ts";
import type { AuthMode } from "./hosts.ts";
import { createLockout, type Settings } from "./lockout.ts";
import { createLoginCodes, redirectDirectory } from "./login-codes.ts";
import { readPassphrase } from "./passphrase.ts";
import { Refusal } from "./response.ts";

const tokenBytes = 32;

/** `body`: digest of the body that the device signed. */
export type Bearer = { bearer: "main" } | { bearer: "device"; id: string; rights: Right; body: string };

/** Where a request comes from. `origin` is what the browser says of the page; left out where it says nothing. */
export interface From {
  origin: string | undefined;
  address: string | null;
  /** Whether a page of this origin is ours. */
  allowsOrigin: (origin: string) => boolean;
}

export interface Access {
  readonly mode: AuthMode;
  readonly hasPassphrase: boolean;
  readonly devices: Pick<Devices, "list" | "get" | "edit" | "seen">;
  check(token: string): Bearer | null;
  /** Throws a refusal that says what is wrong. */
  checkDevice(proof: DeviceProof, asked: { method: string; path: string }, from: From): Bearer;
  challenge(): Output<"challenge">;
  issueLink(url: string, asked: LoginLinkRequest): { url: string; expiresAt: number; file: string | null };
  login(request: LoginRequest, from: From): Promise<{ device: Device; isNew: boolean }>;
  revoke(id: string): Promise<Device | null>;
  /** Also what could still let somebody in: links that are not used yet. */
  revokeAll(): Promise<Device[]>;
  /** Returns the token's file. */
  rotateToken(): string;
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
  /** Of a new passphrase; cheaper in tests. */
  iterations?: number;
}

export function openAccess(options: AccessOptions): Access {
  const { now, settings, mode, tokenFile } = options;
  const warn = (message: string, cause: unknown): void => options.log?.warn(message, { cause: String(cause) });
  let token = readOrCreateToken(tokenFile);
  let digest: Buffer | undefined;
  const mainDigest = (): Buffer => (digest ??= crypto().hash("sha256", token, "buffer"));
  const passphrase = mode === "passphrase" ? readPassphrase(options.passphraseFile, warn, options.iterations) : null;
  if (passphrase?.asked.salt === null) options.log?.warn("the passphrase was set by an earlier version: set it again");
  const devices = createDevices(settings, now, warn);
  const challenges = createChallenges(now);
  const codes = createLoginCodes(redirectDirectory(tokenFile), now);
  const lockout = createLockout(settings, now);
  // One guess at a time: parallel ones could all be begun before the first was counted.
  let lastGuess: Promise<unknown> = Promise.resolve();

  const revokeAll = async (): Promise<Device[]> => {
    codes.clear();
    return devices.revokeAll();
  };
  const guess = async (proof: string, text: string, address: string): Promise<void> => {
    if (passphrase === null) {
      throw new Refusal("forbidden", "This daemon takes login links, not a passphrase.", {
        hint: "Run `holdfast dashboard` for a login link.",
      });
    }
    if (passphrase.asked.salt === null) throw setAgain();
    const { left } = await lockout.begin(address);
    if (!(await passphrase.verify(proof, text))) {
      options.log?.warn("a wrong passphrase was given", { attemptsLeft: left });
      throw new Refusal("unauthorized", "The passphrase is not right.", {
        hint: left === 0 ? "No more attempts for now." : `${left} more before a pause.`,
      });
    }
    await lockout.succeeded(address);
  };

  return {
    mode,
    hasPassphrase: passphrase !== null,
    devices,
    check: (given) =>
      crypto().timingSafeEqual(crypto().hash("sha256", given, "buffer"), mainDigest()) ? { bearer: "main" } : null,

    checkDevice: (proof, asked, { origin, address, allowsOrigin }) => {
      const device = devices.get(proof.device);
      if (device === null) {
        throw new Refusal("logged-out", "This device is not logged in: it was revoked, or not used for 30 days.", {
          hint: "Run `holdfast dashboard` for a new login link.",
        });
      }
      // A page on another port can use the key that the browser keeps for it, but that key is enrolled for its own origin.
      if (!allowsOrigin(device.origin) || (origin !== undefined && origin !== device.origin)) {
        throw new Refusal("unauthorized", `This device logged in at ${device.origin}, which is not this address.`, {
          hint: "Run `holdfast dashboard` for a new login link.",
        });
      }
      if (!devices.verify(device, proof, asked)) {
        throw new Refusal("unauthorized", "The device's signature does not fit this request.", {
          hint: "Reload the page. If it persists, log in again.",
        });
      }
      const taken = challenges.take(proof.nonce, proof.count, device.id);
      if (taken === "stale") {
        throw new Refusal("unauthorized", "The challenge that was signed has expired.", {
          hint: "Sign the one in this answer.",
          headers: { [challengeHeader]: `${challenges.issue()} ${challengeLifeMs}` },
        });
      }
      if (taken === "replayed") {
        throw new Refusal("unauthorized", "This request was sent before.", { hint: "Sign each request anew." });
      }
      devices.seen(device, address);
      return { bearer: "device", id: device.id, rights: device.rights, body: proof.body };
    },

    challenge: () => ({
      nonce: challenges.issue(),
      lifeMs: challengeLifeMs,
      passphrase: passphrase?.asked ?? null,
    }),

    issueLink: (url, { rights = "all", name = null, for: whom = "here", file = false }) => {
      const { code, expiresAt } = codes.issue({ rights, name, for: whom });
      // Behind the #, which no browser sends and no server logs.
      const link = `${url}/#login=${code}`;
      return { url: link, expiresAt, file: file ? codes.writeFile(code, link) : null };
    },

    login: async ({ code, nonce, publicKey, proof, name }, { origin, address }) => {
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

    revoke: (id) => devices.revoke(id),
    revokeAll,
    rotateToken: () => {
      const next = crypto().randomBytes(tokenBytes).toString("base64url");
      writeDurable(tokenFile, `${next}\n`);
      token = next;
      digest = undefined;
      return tokenFile;
    },
    settled: async () => {
      codes.clear();
      await passphrase?.settled;
      await lastGuess;
      await devices.settled();
    },
  };
}

function setAgain(): Refusal {
  return new Refusal("forbidden", "The passphrase was set by an earlier version and has to be set again.", {
    hint: "On the daemon's machine: `holdfast stop`, then `holdfast start --passphrase-file <file>`. `holdfast pair` works meanwhile.",
  });
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
  const token = crypto().randomBytes(tokenBytes).toString("base64url");
  writeDurable(file, `${token}\n`);
  return token;
}
