/** An update of a real npm installation from packed tarballs, without a network. */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Home, type Ran } from "../../../../test/harness/home.ts";
import type { InfoJson } from "../../../contract/daemon.ts";

const root = join(import.meta.dirname, "../../../..");

/** An npm installation of our own package, below a test's home. */
class InstalledHome extends Home {
  readonly prefix: string;

  constructor() {
    super({
      // The launcher's fallback, because the packages that bring a Node along are not there without a network.
      PATH: [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      npm_config_offline: "true",
      npm_config_update_notifier: "false",
      npm_config_userconfig: "/dev/null",
    });
    this.prefix = join(this.directory, "app");
  }

  get root(): string {
    return join(this.prefix, "node_modules/holdfast");
  }

  override cli(args: string[]): Promise<Ran> {
    return this.run(join(this.prefix, "node_modules/.bin/holdfast"), args);
  }

  /** The built package under another version, as a directory that npm can pack. */
  copy(version: string, change: (copy: string) => void = () => undefined): string {
    const copy = join(this.directory, version, "package");
    mkdirSync(copy, { recursive: true });
    for (const name of ["bin", "dist", "schema", "package.json"]) {
      cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    const about = JSON.parse(readFileSync(join(copy, "package.json"), "utf8")) as { version: string };
    for (const name of readdirSync(copy, { recursive: true, encoding: "utf8" })) {
      if (!/\.cjs$|^package\.json$|build\.json$/.test(name)) continue;
      const text = readFileSync(join(copy, name), "utf8");
      writeFileSync(join(copy, name), text.replaceAll(about.version, version));
    }
    change(copy);
    return copy;
  }

  /** What `npm pack` would make of it, in a tenth of the time. */
  async tarball(version: string, change?: (copy: string) => void): Promise<string> {
    const copy = this.copy(version, change);
    const file = join(this.directory, `holdfast-${version}.tgz`);
    const ran = await this.run("tar", ["-czf", file, "-C", dirname(copy), "package"]);
    if (ran.code !== 0) throw new Error(ran.stderr);
    return file;
  }

  async npm(...args: string[]): Promise<void> {
    const ran = await this.run("npm", args);
    if (ran.code !== 0) throw new Error(`npm ${args.join(" ")} failed: ${ran.stderr}`);
  }
}

test("[CLI-67, CLI-68] an update replaces the package in its place, restarts the daemon, and the agents go on", async () => {
  await using home = new InstalledHome();
  const [first, other, broken] = await Promise.all([
    home.tarball("7.0.1"),
    home.tarball("7.0.8", (copy) => {
      const file = join(copy, "package.json");
      writeFileSync(file, readFileSync(file, "utf8").replace('"holdfast"', '"something-else"'));
    }),
    home.tarball("7.0.9", (copy) => {
      writeFileSync(join(copy, "dist/cli.cjs"), "process.exit(3);");
      // A new build's files have other names: the old program must not need its own any more.
      rmSync(join(copy, "dist/chunks"), { recursive: true });
    }),
    // The real thing once: what package.json names must be enough to run.
    home.npm("pack", "--silent", "--ignore-scripts", "--pack-destination", home.directory, home.copy("7.0.2")),
  ]);
  const second = join(home.directory, "holdfast-7.0.2.tgz");
  await home.npm("install", "--prefix", home.prefix, "--no-audit", "--no-fund", first);
  await home.ok(["start", "--port", "0"]);
  await home.keepPort();
  await home.ok(["project", "add", await home.repository("my-app")]);
  const spawned = await home.json(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"]);
  const before = await home.json<InfoJson>(["info"]);

  const wrong = await home.cli(["update", "-y", "--from", other]);
  expect([wrong.code, wrong.stderr]).toEqual([1, `${other} is something-else, not holdfast; nothing was changed.\n`]);
  expect(await home.json<InfoJson>(["info"])).toEqual(before);

  const said = await home.ok(["update", "-y", "--from", second]);
  const after = await home.json<InfoJson>(["info"]);
  expect(said.split("\n")).toEqual([
    `Updating Holdfast 7.0.1 to 7.0.2 in ${home.root}`,
    "Holdfast 7.0.2 is installed.",
    `Holdfast is running at ${after.url} (pid ${after.pid}).`,
    "",
  ]);
  expect([before.version, after.version, after.url === before.url]).toEqual(["7.0.1", "7.0.2", true]);
  expect(after.pid).not.toBe(before.pid);
  const session = await home.json(["session", "show", spawned.id]);
  expect(session.processes).toEqual(spawned.processes);

  const failed = await home.cli(["update", "-y", "--from", broken]);
  expect([failed.code, failed.stderr.split("\n")[0]]).toEqual([1, "Holdfast 7.0.9 is installed but failed its check."]);
  cpSync(join(home.directory, "7.0.2/package"), home.root, { recursive: true });
  expect(await home.json<InfoJson>(["info"])).toEqual(after);
});
