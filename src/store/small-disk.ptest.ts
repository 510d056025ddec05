import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makeHome } from "./store.fixture.ts";

const child = fileURLToPath(new URL("small-disk.fixture.ts", import.meta.url));
/** Containers and some systems forbid it; disk-full.test.ts tells the same story with SQLite's own limit. */
const canMount =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0;

it.runIf(canMount)(
  "[DAEMON-23] records a kill on a disk that is really full, and takes the reserve back later (needs to mount a disk)",
  () => {
    const { directory } = makeHome();
    const answer = execFileSync("unshare", ["-rm", process.execPath, child, directory], { encoding: "utf8" });
    expect(JSON.parse(answer)).toEqual({
      full: "disk-full",
      written: 2,
      want: "killed",
      chatter: "disk-full",
      reserveWhileFull: false,
      reserveAfterwards: true,
      problems: [],
      readOnly: "Cannot write the database /holdfast.db: it, or its disk, is read-only.",
    });
  },
);
