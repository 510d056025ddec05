/** Debian's nginx in front of a daemon, as users configure it: TLS outside, plain loopback inside. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { Certificate } from "./certificate.ts";
import { until } from "./until.ts";

/** Below the ephemeral ports. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

export async function openTlsProxy(options: {
  directory: string;
  certificate: Certificate;
  port: number;
  /** The daemon's. */
  target: string;
}): Promise<AsyncDisposable> {
  const { certificate, port, target } = options;
  const prefix = join(options.directory, "nginx");
  mkdirSync(prefix);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(prefix, name)};`,
  );
  // The recipe of the README, with its own paths.
  const configuration = `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off; master_process off; pid ${join(prefix, "pid")}; error_log stderr;
events { worker_connections 256; }
http {
  access_log off; ${temporary.join(" ")}
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  server {
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${certificate.cert}; ssl_certificate_key ${certificate.key};
    location / {
      proxy_pass ${target};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_read_timeout 1h;
    }
  }
}
`;
  const file = join(prefix, "nginx.conf");
  writeFileSync(file, configuration);
  const child = spawn("nginx", ["-p", prefix, "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (said += text));
  const ended = once(child, "exit");
  await until("nginx", () => {
    if (child.exitCode !== null) throw new Error(said);
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  });
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
