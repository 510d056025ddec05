/** Shared by the torture run's agents: a line in the ledger, and work that exists only in the worktree. */
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";

const ledger = process.env["TORTURE_LEDGER"];
const session = process.env["HOLDFAST_SESSION"] ?? "";
const launch = process.env["HOLDFAST_LAUNCH"] ?? "";

export function note(event: string, value?: string): void {
  if (ledger === undefined) return;
  const line = { at: Date.now(), session, launch, pid: process.pid, event, ...(value === undefined ? {} : { value }) };
  appendFileSync(ledger, `${JSON.stringify(line)}\n`);
}

/** Names of the files that contain it; a worktree that lost one of them lost work. */
export const workFiles = ["untracked.bin", "made/inner.bin"];

/** Once per worktree: uncommitted bytes that nothing else has, and their checksum in the ledger. */
export function doWork(): void {
  if (existsSync(workFiles[0]!)) return;
  const bytes = randomBytes(4096);
  mkdirSync("made", { recursive: true });
  for (const name of workFiles) writeFileSync(name, bytes);
  note("work", createHash("sha256").update(bytes).digest("hex"));
}
