/** The certificate and key for our own TLS: read, checked and described. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

export interface TlsFiles {
  cert: string;
  key: string;
}

export interface TlsRead {
  is: "ok";
  cert: Buffer;
  key: Buffer;
  /** Names that the certificate is for. */
  names: string[];
  expiresAt: number;
  /** Changes when one of the files is replaced. */
  stamp: string;
  /** Problems that do not prevent it from working. */
  warnings: string[];
}

export type TlsOutcome = TlsRead | { is: "wrong"; message: string; hint: string };

export function readTlsFiles(files: TlsFiles, now = Date.now()): TlsOutcome {
  const stamp = stampOf(files);
  const read = (what: string, path: string): Buffer | { is: "wrong"; message: string; hint: string } => {
    try {
      return readFileSync(path);
    } catch (error) {
      return wrong(`Cannot read the TLS ${what} ${path}: ${whyOf(error)}.`, `Check the path and its permissions.`);
    }
  };
  const cert = read("certificate", files.cert);
  if (!Buffer.isBuffer(cert)) return cert;
  const key = read("key", files.key);
  if (!Buffer.isBuffer(key)) return key;
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(cert);
  } catch {
    return wrong(`${files.cert} is not a PEM certificate.`, "Pass the certificate chain, for example fullchain.pem.");
  }
  let secret: KeyObject;
  try {
    secret = createPrivateKey(key);
  } catch (error) {
    const encrypted = key.includes("ENCRYPTED") || /passphrase/i.test(String(error));
    return encrypted
      ? wrong(
          `The TLS key ${files.key} is encrypted.`,
          `Decrypt it: openssl pkey -in ${files.key} -out key.pem && chmod 600 key.pem`,
        )
      : wrong(`${files.key} is not a PEM private key.`, "Pass the certificate's key, for example privkey.pem.");
  }
  if (!parsed.checkPrivateKey(secret)) {
    return wrong(
      `The TLS key ${files.key} does not belong to the certificate ${files.cert}.`,
      "Pass two files that were issued together.",
    );
  }
  const expiresAt = Date.parse(parsed.validTo);
  return { is: "ok", cert, key, names: namesOf(parsed), expiresAt, stamp, warnings: warningsOf(files, expiresAt, now) };
}

const dayMs = 86_400_000;
const soonDays = 14;

function warningsOf(files: TlsFiles, expiresAt: number, now: number): string[] {
  const mode = statSync(files.key).mode & 0o777;
  const days = Math.floor((expiresAt - now) / dayMs);
  return [
    ...((mode & 0o077) === 0
      ? []
      : [`Others can read the TLS key ${files.key} (mode ${mode.toString(8)}). Close it: chmod 600 ${files.key}`]),
    ...(expiresAt <= now
      ? [`The TLS certificate ${files.cert} expired on ${dateOf(expiresAt)}. Renew it; no restart is needed.`]
      : days < soonDays
        ? [`The TLS certificate ${files.cert} expires on ${dateOf(expiresAt)}. Renew it; no restart is needed.`]
        : []),
  ];
}

export function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function namesOf(cert: { subjectAltName?: string | undefined }): string[] {
  return (cert.subjectAltName ?? "").split(", ").flatMap((each) => /^(?:DNS|IP Address):(.+)$/.exec(each)?.[1] ?? []);
}

/** Empty if a file is missing: a renewal may be replacing it. */
export function stampOf(files: TlsFiles): string {
  try {
    return [files.cert, files.key]
      .map((path) => statSync(path))
      .map(({ ino, size, mtimeMs }) => `${ino}:${size}:${mtimeMs}`)
      .join("|");
  } catch {
    return "";
  }
}

function wrong(message: string, hint: string): { is: "wrong"; message: string; hint: string } {
  return { is: "wrong", message, hint };
}

function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  return code === "EACCES" ? "permission denied" : message;
}
