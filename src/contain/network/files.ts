/**
 * The files of a home's network proxy. The proxy and the daemon communicate through them: either may be replaced at any
 * time.
 */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/durable-file.ts";
import type { Identity } from "../../base/pid.ts";

/** Inside the home. */
export const networkFolder = "network";

/** Identifies the proxy: this process serves, and any other exits when it notices. */
export const proxyFile = (directory: string): string => join(directory, "proxy.json");
/** One folder per session. */
export const sessionFolder = (directory: string, session: string): string => join(directory, session);
/** What its agent may reach; written by the daemon before the launch. */
export const policyFile = (folder: string): string => join(folder, "policy.json");
export const blockedFile = (folder: string): string => join(folder, "blocked.json");
/** How many blocked hosts were reported in the session. */
export const reportedFile = (folder: string): string => join(folder, "reported");
/** Mounted into the namespace as a folder: a restarted proxy creates a new socket. */
export const proxySocketFolder = (folder: string): string => join(folder, "door");
export const socketName = "proxy.sock";

export interface Policy {
  allow: string[];
}

export interface ProxyRecord extends Identity {
  /** Digest of its program; a different one replaces it. */
  program: string;
  /** Where it serves: a copied home names the original's proxy. */
  directory: string;
}

export function readPolicy(folder: string): Policy | null {
  const read = readJson(policyFile(folder));
  const allow = read.is === "known" ? (read.value as Partial<Policy> | null)?.allow : null;
  return Array.isArray(allow) ? { allow: allow.filter((entry) => typeof entry === "string") } : null;
}

export function readProxy(directory: string): ProxyRecord | null {
  const read = readJson(proxyFile(directory));
  const {
    pid,
    startTime,
    bootId,
    program = "",
    directory: served = "",
  } = read.is === "known" ? (read.value as Partial<ProxyRecord>) : {};
  if (typeof pid !== "number" || typeof startTime !== "string" || typeof bootId !== "string") return null;
  return { pid, startTime, bootId, program, directory: served };
}

/** The recorded proxy, if it serves this folder: by another path after a move, not at all in a copy. */
export function ownProxy(directory: string): ProxyRecord | null {
  const record = readProxy(directory);
  try {
    return record !== null && realpathSync(record.directory) === realpathSync(directory) ? record : null;
  } catch {
    return null;
  }
}
