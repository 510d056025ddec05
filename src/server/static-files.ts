/**
 * The dashboard's files. They are the same for everybody and hold no secrets, so they are given without a token; what
 * they show comes from the API, with one.
 */
import { open, realpath } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { securityHeaders } from "./response.ts";
import { notFound } from "./router.ts";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
};

/** Names that hold a hash of their content never change it. */
const hashed = /^\/assets\/.*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

export interface StaticRequest {
  method: string;
  path: string;
  /** What the browser can unpack. */
  encodings: string;
  /** A browser that opens a page: addresses inside the dashboard then get its one page. */
  navigation: boolean;
}

export async function sendFile(directory: string | null, ask: StaticRequest, response: ServerResponse): Promise<void> {
  if (directory === null) throw notFound(ask.method, ask.path, "This daemon was built without the dashboard.");
  if (ask.method !== "GET" && ask.method !== "HEAD") throw notFound(ask.method, ask.path);
  const wanted = ask.path === "/" ? "/index.html" : ask.path;
  const file =
    (await openPacked(directory, wanted, ask.encodings)) ??
    (ask.navigation ? await openPacked(directory, "/index.html", ask.encodings) : null);
  if (file === null) throw notFound(ask.method, ask.path);
  try {
    response.writeHead(200, {
      ...securityHeaders,
      "Content-Type": types[extname(file.path)] ?? "application/octet-stream",
      "Content-Length": file.size,
      ...(file.encoding === null ? {} : { "Content-Encoding": file.encoding }),
      Vary: "Accept-Encoding",
      "Cache-Control": hashed.test(wanted) ? "public, max-age=31536000, immutable" : "no-cache",
    });
    if (ask.method === "HEAD" || file.size === 0) response.end();
    else await pipeline(file.handle.createReadStream({ autoClose: false, end: file.size - 1 }), response);
  } finally {
    await file.handle.close();
  }
}

type OpenFile = { path: string; size: number; handle: Awaited<ReturnType<typeof open>> };

/** Made by the build, beside the files they stand for; the smaller first. */
const packings = [
  { encoding: "br", suffix: ".br" },
  { encoding: "gzip", suffix: ".gz" },
];

async function openPacked(
  directory: string,
  path: string,
  encodings: string,
): Promise<(OpenFile & { encoding: string | null }) | null> {
  const plain = await openInside(directory, path);
  if (plain === null) return null;
  for (const { encoding, suffix } of packings) {
    if (!takes(encodings, encoding)) continue;
    const packed = await openInside(directory, path + suffix);
    if (packed === null) continue;
    await plain.handle.close();
    return { ...packed, path: plain.path, encoding };
  }
  return { ...plain, encoding: null };
}

/** `br;q=0` refuses it. */
function takes(accepted: string, encoding: string): boolean {
  return accepted.split(",").some((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

async function openInside(directory: string, path: string): Promise<OpenFile | null> {
  const relative = safePath(path);
  if (relative === null) return null;
  try {
    const root = await realpath(directory);
    // A symbolic link in the build could point anywhere: the real path counts.
    const real = await realpath(join(root, relative));
    if (!real.startsWith(root + sep)) return null;
    const handle = await open(real, "r");
    const stat = await handle.stat();
    if (stat.isFile()) return { path: real, size: stat.size, handle };
    await handle.close();
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return null;
    throw error;
  }
}

/** Nothing that climbs, hides, or means something else to another file system. */
function safePath(path: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (decoded.includes("\0") || decoded.includes("\\")) return null;
  const segments = decoded.split("/").slice(1);
  return segments.some((segment) => segment === "" || segment.startsWith(".")) ? null : segments.join("/");
}
