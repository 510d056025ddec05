import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProjectSettings } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { asProjectId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { environmentFor } from "./execute/launch.ts";
import { openSavedEnvironment, type SavedEnvironment, knownSettings } from "./known-settings.ts";
import { idsWithoutTrust } from "../agents/registry.ts";
import type { Services } from "./services.ts";

const id = asProjectId("app");
const row: ProjectRow = { id, path: "/p", prefix: "ap", configFile: "/p/holdfast.yaml", addedAt: 0 };
const trust = { state: "trusted", digest: "d", notices: [] };
const settings = {
  id,
  env: { PATH: "/bin", TOKEN: "s3cret" },
  passEnv: [],
  agents: [],
  trust,
} as unknown as ProjectSettings;

/** Of a home whose file of values is gone. */
const nothingKept: SavedEnvironment = { of: () => ({}), keep: () => undefined };

function world(
  kept: Record<string, string> = {},
  file: () => Promise<ProjectSettings> = async () => settings,
  keptEnv = nothingKept,
) {
  const stored = new Map(Object.entries(kept));
  const store = {
    projects: () => [row],
    getSetting: (key: string) => stored.get(key) ?? null,
    putSetting: async (key: string, value: string | null) => void stored.set(key, value ?? ""),
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const parts = { store, projects: { settings: file }, log, trust: { stateOf: () => "trusted" } };
  return {
    known: knownSettings({ ...parts, keptEnv, agentsWithoutTrust: idsWithoutTrust } as unknown as Parameters<
      typeof knownSettings
    >[0]),
    text: () => [...stored.values()].join("\n"),
  };
}
const broken = async (): Promise<ProjectSettings> => {
  throw new Error("a mistake in line 3");
};

describe("[TEXT-9] values of a project's env", () => {
  test("are in use, and not in the database", async () => {
    const { known, text } = world();
    expect((await known.forSession(id)).env).toEqual(settings.env);
    expect(known.last(id)?.env).toEqual(settings.env);
    expect(known.lostEnv(id)).toEqual([]);
    expect(text()).not.toContain("s3cret");
    expect(text()).toContain("TOKEN");
  });

  test("stay known to a daemon that read them, also while the file is wrong", async () => {
    let wrong = false;
    const { known } = world({}, () => (wrong ? broken() : Promise.resolve(settings)));
    await known.forSession(id);
    wrong = true;
    expect((await known.forSession(id)).env).toEqual(settings.env);
    expect(known.lostEnv(id)).toEqual([]);
  });

  test("are named as missing by the next daemon as long as the file is wrong", async () => {
    const first = world();
    await first.known.forSession(id);
    const { known } = world({ "project.app.settings": first.text() }, broken);
    expect((await known.forSession(id)).env).toEqual({ PATH: "/bin" });
    expect(known.lostEnv(id)).toEqual(["TOKEN"]);
  });

  test("are known to the next daemon by a file that only its owner reads", async () => {
    const directory = mkdtempSync(join(tmpdir(), "hf-env-"));
    const file = join(directory, "env.json");
    const log = { warn: (message: string) => expect(message).toBe("never") };
    const first = world({}, async () => settings, openSavedEnvironment(file, log));
    await first.known.forSession(id);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const next = world({ "project.app.settings": first.text() }, broken, openSavedEnvironment(file, log));
    expect((await next.known.forSession(id)).env).toEqual(settings.env);
    expect(next.known.lostEnv(id)).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  test("keep a session from starting without them, with their names", async () => {
    const first = world();
    await first.known.forSession(id);
    const { known } = world({ "project.app.settings": first.text() }, broken);
    const parts = { settings: known, programs: { of: () => null }, agents: { of: () => null }, home: "/h" };
    const session = { id: "ap-1", project: id, role: "worker" } as SessionState;
    await expect(environmentFor(parts as unknown as Services, session, null)).rejects.toThrow("TOKEN");
    const good = { ...parts, settings: first.known };
    expect(await environmentFor(good as unknown as Services, session, null)).toMatchObject({ TOKEN: "s3cret" });
  });

  test("that an earlier build stored are removed, and not used before the user was asked", async () => {
    const { known, text } = world(
      { "project.app.settings": JSON.stringify({ ...settings, trust: undefined }) },
      broken,
    );
    await known.forgetValues();
    expect(text()).not.toContain("s3cret");
    expect((await known.forSession(id)).env).toEqual({});
    expect(known.lostEnv(id)).toEqual([]);
  });
});
