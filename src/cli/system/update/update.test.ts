import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HoldfastError, messageOf } from "../../../contract/errors.ts";
import { ownDaemonFile } from "../../test-support/stand-in.ts";
import { resolvePaths } from "../../../base/paths.ts";
import { createContext } from "../../context.ts";
import { offerRestart } from "../../commands/daemon/update.ts";
import { installArguments, readPacked, specOf } from "./npm.ts";
import { type NpmInstallation, readInstallation, requireNpmInstallation } from "./installation.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync("/tmp/hf-update-")));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A package's directory below the test's own. */
function packageAt(path: string, about: object = { name: "holdfast" }): string {
  const root = join(directory, path);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), JSON.stringify(about));
  return root;
}

const touch = (path: string): void => writeFileSync(join(directory, path), "{}");

describe("where it is installed", () => {
  test("[CLI-64] npm's global and local packages are distinguished", () => {
    expect(readInstallation(packageAt("usr/lib/node_modules/holdfast"))).toMatchObject({
      kind: "npm",
      scope: "global",
      prefix: join(directory, "usr"),
      unpublished: false,
    });
    const local = packageAt("app/node_modules/holdfast", { name: "holdfast", private: true });
    touch("app/package.json");
    expect(readInstallation(local)).toMatchObject({
      kind: "npm",
      scope: "local",
      prefix: join(directory, "app"),
      unpublished: true,
    });
    const inLib = packageAt("my/lib/node_modules/holdfast");
    touch("my/lib/package.json");
    expect(readInstallation(inLib)).toMatchObject({ scope: "local", prefix: join(directory, "my/lib") });
    expect(readInstallation(packageAt("p/node_modules/@me/holdfast", { name: "@me/holdfast" }))).toMatchObject({
      name: "@me/holdfast",
      prefix: join(directory, "p"),
    });
  });

  const refusal = (root: string): [string, string | null] => {
    try {
      requireNpmInstallation(readInstallation(root));
    } catch (error) {
      return [messageOf(error).replaceAll(directory, ""), (error as HoldfastError).hint];
    }
    return ["nothing was refused", null];
  };

  test("[CLI-64] other installations are not changed, and the error names the right tool", () => {
    const checkout = packageAt("src/holdfast");
    mkdirSync(join(checkout, ".git"));
    expect(refusal(checkout)).toEqual([
      "/src/holdfast is a git checkout; not updated.",
      "Update it with: git pull && npm ci && npm run build, then holdfast restart.",
    ]);
    const pnpm = packageAt("a/node_modules/.pnpm/holdfast@1.0.0/node_modules/holdfast");
    expect(refusal(pnpm)[1]).toBe("Update holdfast with pnpm, then run holdfast restart.");
    const yarn = packageAt("b/node_modules/holdfast");
    touch("b/yarn.lock");
    expect(refusal(yarn)[0]).toBe("/b/node_modules/holdfast was installed by yarn; not updated.");
    expect(refusal(packageAt("_npx/12ab/node_modules/holdfast"))[1]).toBe(
      "Run the latest version with: npx holdfast@latest",
    );
    for (const unknown of [packageAt("opt/holdfast"), packageAt("c/node_modules/other"), join(directory, "none")]) {
      expect(refusal(unknown)[0]).toMatch(/ was not installed by npm; not updated\.$/);
    }
  });
});

const place: NpmInstallation = {
  kind: "npm",
  root: "/usr/lib/node_modules/holdfast",
  scope: "global",
  prefix: "/usr",
  name: "holdfast",
  unpublished: false,
};

describe("the installed package", () => {
  test("[CLI-65] a version, a tag, a tarball or the latest; nothing that npm would take for an option", () => {
    touch("a.tgz");
    touch("no-tarball");
    const spec = (from?: string): string => specOf(place, from, directory).text;
    expect([spec(), spec("1.2.3"), spec("next"), spec("a.tgz"), spec("./a.tgz")]).toEqual([
      "holdfast@latest",
      "holdfast@1.2.3",
      "holdfast@next",
      join(directory, "a.tgz"),
      join(directory, "a.tgz"),
    ]);
    expect(() => spec("./b.tgz")).toThrow("There is no tarball");
    expect(() => spec("./no-tarball")).toThrow("There is no tarball");
    for (const wrong of ["--global", "", "1.0 || 2", "git+ssh:x"]) expect(() => spec(wrong)).toThrow("--from must be");
  });

  test("[CLI-65] an unpublished package is never looked up in a registry", () => {
    const own = { ...place, unpublished: true };
    for (const from of [undefined, "1.2.3"]) expect(() => specOf(own, from, "/")).toThrow("is not published");
    touch("a.tgz");
    expect(specOf(own, "a.tgz", directory)).toEqual({ text: join(directory, "a.tgz"), tarball: true });
  });

  test("[CLI-66] npm is given the place where the old one lies", () => {
    const quiet = ["--no-audit", "--no-fund", "--", "holdfast@2"];
    const spec = { text: "holdfast@2", tarball: false };
    expect(installArguments(place, spec)).toEqual(["install", "--global", "--prefix", "/usr", ...quiet]);
    const local = { ...place, scope: "local" as const, prefix: "/app" };
    expect(installArguments(local, spec)).toEqual(["install", "--prefix", "/app", ...quiet]);
  });

  test("[CLI-66] npm's description of a package is read in both of its formats", () => {
    const about = { name: "holdfast", version: "2.0.0" };
    expect(readPacked(JSON.stringify([about]))).toEqual(about);
    expect(readPacked(JSON.stringify({ holdfast: about }))).toEqual(about);
    for (const text of ["", "null", "[]", "{}", '{"error":{"code":"E404"}}']) expect(readPacked(text)).toBeNull();
  });
});

test("[CLI-68] without a terminal the daemon keeps running; a managed daemon is left to its manager; a current one needs no restart", async () => {
  const offer = async (daemon: object, yes: boolean): Promise<string> => {
    const out: string[] = [];
    const context = createContext({
      env: { HOLDFAST_HOME: directory },
      cwd: directory,
      dist: directory,
      io: {
        out: (text) => void out.push(text),
        write: (text) => void out.push(text),
        err: (text) => void out.push(text),
        isTerminal: () => false,
        terminalSize: () => null,
      },
    });
    writeFileSync(context.paths.daemonFile, JSON.stringify({ ...ownDaemonFile(join(directory, "s")), ...daemon }));
    await offerRestart(context, place, { version: "2.0.0", build: "2.0.0+b" }, yes);
    return out.join("\n").replaceAll(String(process.pid), "PID");
  };
  expect(await offer({}, false)).toBe(
    "The daemon (pid PID) still runs 1.2.3.\nWhen you are ready, run holdfast restart. Sessions keep running.",
  );
  expect(await offer({ managedBy: "systemd" }, true)).toBe(
    `The daemon (pid PID) is managed by systemd; not restarted. It still runs 1.2.3. Restart it there, for example: systemctl --user restart ${resolvePaths({ HOLDFAST_HOME: directory }).tmuxSocket}`,
  );
  expect(await offer({ build: "2.0.0+b" }, true)).toBe("");
});
