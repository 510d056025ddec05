/** Our own TLS: an https server whose certificate is the one that is in the files now. */
import type { Server, ServerOptions } from "node:http";
import { readTlsFiles, stampOf, type TlsFiles } from "../base/tls-files.ts";
import type { Logger } from "../ports/api.ts";
import { HoldfastError } from "../contract/errors.ts";

/** A stranger may not keep half a handshake for Node's own two minutes. */
const handshakeMs = 10_000;

export function createTlsServer(files: TlsFiles, options: ServerOptions, log: Logger): Server {
  const first = readTlsFiles(files);
  if (first.is === "wrong") throw new HoldfastError("preflight-failed", first.message, { hint: first.hint });
  let stamp = first.stamp;
  const { cert, key } = first;
  const https = process.getBuiltinModule("node:https");
  const server = https.createServer({ ...options, cert, key, handshakeTimeout: handshakeMs, minVersion: "TLSv1.2" });
  // Before Node's own listener: the handshake that follows uses the new files. A renewal that has replaced only one of
  // them so far does not fit; the certificate before stays until both do.
  server.prependListener("connection", () => {
    const now = stampOf(files);
    if (now === stamp || now === "") return;
    stamp = now;
    const read = readTlsFiles(files);
    if (read.is === "wrong") {
      log.warn("the renewed TLS files cannot be used; the ones before stay", { why: read.message });
      return;
    }
    server.setSecureContext({ cert: read.cert, key: read.key });
    log.info("using the renewed TLS certificate", { names: read.names, expiresAt: new Date(read.expiresAt) });
  });
  // A handshake that fails is the peer's affair; without a listener nothing else happens either.
  server.on("tlsClientError", (error) => log.debug("a TLS handshake failed", { why: error.message }));
  return server;
}
