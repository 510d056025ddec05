import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../../test/harness/until.ts";
import { resolvePaths } from "../../../base/paths.ts";
import { installBuild } from "./install-build.ts";
import { writeHome } from "./write-home.ts";

test("[DAEMON-3] a build is installed next to a daemon that is writing its compile cache", async () => {
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

test("[CLI-72] a start during an update reports the update, not a problem with the home", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hf-install-"));
  const paths = resolvePaths({ HOLDFAST_HOME: join(directory, "h"), HOME: directory });
  const dist = join(directory, "dist");
  for (const each of [dist, paths.builds]) mkdirSync(each, { recursive: true });
  writeFileSync(join(dist, "daemon.cjs"), "x");
  const text = `const fs = require("fs");
    for (let round = 0; ; round++) {
      fs.writeFileSync(${JSON.stringify(join(dist, "round"))}, String(round));
      for (let n = 0; n < 200; n++) fs.writeFileSync(${JSON.stringify(dist)} + "/" + n, "x".repeat(round % 7));
      if (round === 0) fs.writeSync(1, "x");
      for (let n = 0; n < 200; n++) fs.rmSync(${JSON.stringify(dist)} + "/" + n);
    }`;
  const npm = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(npm.stdout, "data");
    const refused = await until("a file to be missing between two looks", () => {
      try {
        rmSync(
          join(
            writeHome(paths, () => installBuild(paths, dist)),
            "..",
          ),
          { recursive: true },
        );
        return null;
      } catch (error) {
        return error as Error;
      }
    });
    expect(refused.message).toBe(`Holdfast is being updated in ${dist}.`);
  } finally {
    npm.kill("SIGKILL");
    await once(npm, "close");
    rmSync(directory, { recursive: true, force: true });
  }
});
