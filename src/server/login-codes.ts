/**
 * One-time login links. The secret follows the `#` of the link and is never sent: the page proves that it has it. A used
 * link is remembered for a while, to report to its second user who used it first.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeDurable } from "../base/durable-file.ts";
import { loginText } from "../contract/device-proof.ts";
import type { Right } from "../contract/rights.ts";
import { Refusal } from "./response.ts";

/** A browser of this machine opens immediately; another device must be fetched first. */
const lifeMs = { here: 60_000, pair: 10 * 60_000 } as const;
const rememberedMs = 24 * 3_600_000;
const maxCodes = 64;
const idBytes = 6;
const secretBytes = 16;

interface Code {
  secret: string;
  rights: Right;
  name: string | null;
  expiresAt: number;
  used: { at: number; by: string; address: string | null } | null;
  /** Redirects to the link. */
  file: string | null;
}

export interface LoginProof {
  code: string;
  nonce: string;
  origin: string;
  publicKey: string;
  proof: string;
}

/** @param directory for files that redirect; created with the first one. */
export function createLoginCodes(directory: string, now: () => number) {
  const codes = new Map<string, Code>();

  const dropFile = (code: Code): void => {
    if (code.file !== null) rmSync(code.file, { force: true });
    code.file = null;
  };
  const sweep = (): void => {
    for (const [id, code] of codes) {
      if (code.expiresAt <= now()) dropFile(code);
      if (now() - code.expiresAt > rememberedMs) codes.delete(id);
    }
    while (codes.size >= maxCodes) {
      const [id, oldest] = codes.entries().next().value!;
      dropFile(oldest);
      codes.delete(id);
    }
  };

  return {
    issue: ({ rights, name, for: whom }: Pick<Code, "rights" | "name"> & { for: keyof typeof lifeMs }) => {
      sweep();
      const id = randomBytes(idBytes).toString("base64url");
      const secret = randomBytes(secretBytes).toString("base64url");
      const expiresAt = now() + lifeMs[whom];
      codes.set(id, { secret, rights, name, expiresAt, used: null, file: null });
      return { code: `${id}.${secret}`, expiresAt };
    },
    /** Creates a file that redirects to the link. */
    writeFile: (given: string, url: string): string => {
      const code = codes.get(given.split(".")[0] ?? "");
      if (code === undefined) throw new Error("file for an unknown code");
      if (![...codes.values()].some(({ file }) => file !== null)) {
        // Of a daemon that was killed; their codes died with it.
        rmSync(directory, { recursive: true, force: true });
        mkdirSync(directory, { recursive: true, mode: 0o700 });
      }
      code.file = join(directory, `${randomBytes(idBytes).toString("hex")}.html`);
      writeDurable(code.file, redirectTo(url), 0o600);
      setTimeout(() => dropFile(code), code.expiresAt - now()).unref();
      return pathToFileURL(code.file).href;
    },
    /** Uses the code up, or throws. `name` is the one given with the link. */
    redeem: (given: LoginProof, by: { name: string; address: string | null }): Pick<Code, "rights" | "name"> => {
      const code = codes.get(given.code);
      if (code === undefined || !proves(given, code.secret)) {
        const why = "This login link is not valid: it has expired, or the daemon was restarted.";
        throw new Refusal("unauthorized", why, { hint: "Run `holdfast dashboard` for a new one." });
      }
      if (code.used !== null) throw usedAlready(code.used);
      if (code.expiresAt <= now()) {
        throw new Refusal("unauthorized", "This login link has expired.", {
          hint: "Run `holdfast dashboard` for a new one, or `holdfast pair` for another device.",
        });
      }
      // Before anything is awaited: of two at the same time only one succeeds.
      code.used = { at: now(), by: code.name ?? by.name, address: by.address };
      dropFile(code);
      return { rights: code.rights, name: code.name };
    },
    /** Invalidates all of them. */
    clear: (): void => {
      for (const code of codes.values()) dropFile(code);
      codes.clear();
    },
  };
}

function proves({ proof, ...login }: LoginProof, secret: string): boolean {
  const digest = createHmac("sha256", secret).update(loginText(login)).digest();
  const given = Buffer.from(proof, "base64url");
  return given.length === digest.length && timingSafeEqual(given, digest);
}

function usedAlready({ at, by, address }: NonNullable<Code["used"]>): Refusal {
  const from = address === null ? "" : ` from ${address}`;
  return new Refusal(
    "unauthorized",
    `This login link was used already: ${new Date(at).toISOString()}, by ${by}${from}.`,
    { hint: "If that was not you, run `holdfast device ls` and revoke it. Run `holdfast dashboard` for a new link." },
  );
}

/** No script: the page must work wherever it is opened, and the link has nothing to escape but quotes. */
function redirectTo(url: string): string {
  const escaped = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${escaped}"><title>Holdfast</title>
<p><a href="${escaped}">Open the dashboard</a>. This link works once.</p>
`;
}
