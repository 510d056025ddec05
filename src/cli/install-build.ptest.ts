import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolvePaths } from "../base/paths.ts";
import { installBuild } from "./install-build.ts";

test("[DAEMON-3] a build is installed beside a daemon that is just writing what it compiled", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hf-install-"));
  const paths = resolvePaths({ HOLDFAST_HOME: join(directory, "h"), HOME: directory });
  const [dist, cache] = [join(directory, "dist"), join(paths.home, "cache")];
  for (const each of [dist, cache, paths.builds]) mkdirSync(each, { recursive: true });
  const text = `const fs = require("fs");
    for (let n = 0; ; n = (n + 1) % 400) try {
      fs.mkdirSync(${JSON.stringify(cache)}, { recursive: true });
      fs.writeFileSync(${JSON.stringify(cache)} + "/" + n, "x");
      if (n === 0) fs.writeSync(1, "x");
    } catch {}`;
  const writer = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(writer.stdout, "data");
    for (let number = 0; number < 40; number++) {
      writeFileSync(join(dist, "daemon.cjs"), "x".repeat(number + 1));
      expect(existsSync(installBuild(paths, dist))).toBe(true);
    }
    expect(readdirSync(paths.builds)).toHaveLength(40);
  } finally {
    writer.kill("SIGKILL");
    await once(writer, "close");
    rmSync(directory, { recursive: true, force: true });
  }
});
