/** How browsers reach the dashboard: public addresses and TLS, and problems with them. */
import { resolve } from "node:path";
import type { LaunchOptions } from "../../../base/launch-options.ts";
import { readPassphraseMark } from "../../../base/passphrase.ts";
import type { Paths } from "../../../base/paths.ts";
import { readPublicUrl, bareHost, isLoopback } from "../../../base/addresses.ts";
import { readTlsFiles } from "../../../base/tls-files.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { OptionEntry, Input } from "../../command.ts";

export type Reach = Pick<LaunchOptions, "publicUrls" | "tlsCert" | "tlsKey">;

export const reachOptions: readonly OptionEntry[] = [
  {
    long: "public-url",
    value: "url",
    many: true,
    description: "Address that browsers use, e.g. https://box.example (repeatable; kept; none removes all)",
  },
  {
    long: "tls-cert",
    value: "file",
    description: "PEM certificate chain to serve https with (kept; none turns TLS off)",
    completes: "file",
  },
  { long: "tls-key", value: "file", description: "PEM private key of --tls-cert", completes: "file" },
];

/** Omitted options are kept: an address belongs to the machine, not to one start. */
export function readReach(input: Input, cwd: string, kept: Reach): Reach {
  return { publicUrls: readUrls(input.list("public-url"), kept.publicUrls), ...readTls(input, cwd, kept) };
}

function readUrls(given: readonly string[], kept: readonly string[]): readonly string[] {
  if (given.length === 0) return kept;
  const urls = given.flatMap((text) => {
    if (text === "none") return [];
    const read = readPublicUrl(text);
    if ("url" in read) return [read.url];
    throw new HoldfastError("usage", `--public-url ${text} cannot be used: ${read.wrong}.`, {
      hint: "Use the address as the browser shows it, e.g. https://box.example or http://localhost:8080.",
    });
  });
  return [...new Set(urls)];
}

function readTls(input: Input, cwd: string, kept: Reach): Pick<Reach, "tlsCert" | "tlsKey"> {
  const [cert, key] = [input.text("tls-cert"), input.text("tls-key")];
  if (cert === undefined && key === undefined) return { tlsCert: kept.tlsCert, tlsKey: kept.tlsKey };
  if (cert === "none" && (key === undefined || key === "none")) return { tlsCert: null, tlsKey: null };
  if (cert === undefined || key === undefined) {
    throw new HoldfastError("usage", "--tls-cert and --tls-key must be used together.", {
      hint: "For example: holdfast start --tls-cert fullchain.pem --tls-key privkey.pem",
    });
  }
  const files = { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  const read = readTlsFiles(files);
  if (read.is === "wrong") throw new HoldfastError("usage", read.message, { hint: read.hint });
  if (read.expiresAt <= Date.now()) throw new HoldfastError("usage", read.warnings.at(-1) ?? "It has expired.");
  return { tlsCert: files.cert, tlsKey: files.key };
}

/** Throws if the TLS files are unusable, before anything is stopped or started. */
export function assertTls({ tlsCert, tlsKey }: Reach): void {
  if (tlsCert === null || tlsKey === null) return;
  const read = readTlsFiles({ cert: tlsCert, key: tlsKey });
  if (read.is === "ok") return;
  throw new HoldfastError("preflight-failed", `${read.message} Nothing was started.`, {
    hint: `${read.hint} Or turn TLS off: holdfast start --tls-cert none`,
  });
}

export interface ReachTrouble {
  message: string;
  fix: string | null;
}

/** Problems that keep remote browsers from working, or make them unsafe. */
export function reachProblems(options: LaunchOptions, paths: Paths): ReachTrouble[] {
  const { host, publicUrls, tlsCert, tlsKey, auth } = options;
  const hasHttps = tlsCert !== null || publicUrls.some((url) => url.startsWith("https:"));
  const problems: ReachTrouble[] = [];
  if (!isLoopback(bareHost(host)) && !hasHttps) {
    problems.push({
      message: `Listening on ${host} without TLS: browsers on other machines cannot log in, because they keep keys for https only.`,
      fix: "Put a TLS proxy in front (--public-url https://<name>) or use --tls-cert and --tls-key. See README, From your phone.",
    });
  }
  if (tlsCert !== null && tlsKey !== null) {
    const read = readTlsFiles({ cert: tlsCert, key: tlsKey });
    if (read.is === "wrong") problems.push({ message: read.message, fix: read.hint });
    else problems.push(...read.warnings.map((message) => ({ message, fix: null })));
  }
  const mark = readPassphraseMark(paths.passphraseMark);
  if (auth === "passphrase" && (mark === null || mark.weak !== null)) {
    problems.push({
      message:
        mark === null
          ? "The passphrase was set before Holdfast checked its strength."
          : `The passphrase is weak: ${mark.weak}.`,
      fix: "Set a new one: holdfast passphrase --file <file>, holdfast stop, holdfast start --passphrase-file <file>",
    });
  }
  return problems;
}

export function problemLines(problems: readonly ReachTrouble[]): string[] {
  return problems.flatMap(({ message, fix }) => [`Warning: ${message}`, ...(fix === null ? [] : [fix])]);
}
