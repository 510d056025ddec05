/** From where browsers reach the dashboard, and what would keep them from it. */
import { defaultLaunchOptions, readLaunchOptions } from "../../base/launch-options.ts";
import { readJson } from "../../base/durable-file.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { reachTroubles } from "../system/daemon/reach.ts";
import { type Finding, finding } from "./finding.ts";

export function checkReach({ paths }: Pick<Context, "paths">): Finding[] {
  const found = findDaemon(paths);
  const read = readJson(paths.launchFile);
  const last = read.is === "known" ? readLaunchOptions(read.value) : null;
  // The file of a daemon of an earlier build lacks what it did not know.
  const running = found.daemon === "running" ? readLaunchOptions(found.file.options) : null;
  const options = running ?? last ?? defaultLaunchOptions;
  const { host, publicUrls, tlsCert } = options;
  const scheme = tlsCert === null ? "http" : "https";
  const also = publicUrls.length === 0 ? "" : `, and as ${publicUrls.join(", ")}`;
  const troubles = reachTroubles(options, paths);
  return [
    finding("access", "ok", `Browsers reach the dashboard by ${scheme} on ${host}${also}.`),
    ...troubles.map(({ message, fix }) => finding("access", "warn", message, { fix })),
  ];
}
