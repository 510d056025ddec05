/** A self-signed certificate for a test. */
import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  cert: string;
  key: string;
  /** The hash of its public key, which makes chromium trust it. */
  spki: string;
}

/** For a DNS name and this machine's loopback addresses. */
export function makeCertificate(directory: string, file: string, name: string, days = 30): Certificate {
  const [cert, key] = [join(directory, `${file}.crt`), join(directory, `${file}.key`)];
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "pipe" });
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name},IP:127.0.0.1,IP:::1`];
  openssl("req", "-x509", ...ec, "-keyout", key, "-out", cert, "-days", String(Math.max(1, days)), ...subject);
  // openssl req refuses a validity in the past.
  if (days < 1) openssl("x509", "-in", cert, "-signkey", key, "-days", String(days), "-out", cert);
  const spki = new X509Certificate(readFileSync(cert)).publicKey.export({ type: "spki", format: "der" });
  return { cert, key, spki: createHash("sha256").update(spki).digest("base64") };
}
