import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asProjectId } from "../contract/ids.ts";
import type { ProjectRow } from "../ports/store.ts";
import { openLazyProjects } from "./lazy-projects.ts";
import { trustsAll } from "./trust.fixture.ts";

let root: string;
let rows: ProjectRow[];
let kept: string | null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-lazy-"));
  const configFile = join(root, "holdfast.yaml");
  rows = [{ id: asProjectId("app"), path: root, prefix: "a", configFile, addedAt: 0 }];
  kept = null;
  write("one");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("[CONFIG-21] the files' agents are cached until a file or the program changes", async () => {
  expect(await ids("build 1")).toEqual(["one"]);
  // Nothing but what was kept can say this: the file is not read again.
  kept = kept!.replaceAll('"one"', '"kept"');
  expect(await ids("build 1")).toEqual(["kept"]);
  expect(await ids("build 2")).toEqual(["one"]);
  write("two");
  expect(await ids("build 2")).toEqual(["two"]);
});

test("[CONFIG-21] a newly registered project has its own agents", async () => {
  expect(await ids("build 1")).toEqual(["one"]);
  rows.push({ ...rows[0]!, id: asProjectId("other"), configFile: null });
  expect(await ids("build 1")).toEqual(["one"]);
  rows.push({ ...rows[0]!, id: asProjectId("third") });
  expect(await ids("build 1")).toEqual(["one", "one"]);
});

test("[CONFIG-21] a file that may still change within its timestamp is not cached", async () => {
  expect(await ids("build 1", statSync(rows[0]!.configFile!).mtimeMs + 1000)).toEqual(["one"]);
  expect(kept).toBeNull();
});

test("[CONFIG-21] a start on a full disk caches nothing, and still knows the agents", async () => {
  const options = {
    userConfig: join(root, "none.yaml"),
    trust: trustsAll,
    now: () => Date.now() + 60_000,
    kept: { get: () => null, put: () => Promise.reject(new Error("full")) },
  };
  const { projects } = await openLazyProjects(options, "build 1").agents(rows);
  expect(projects["app"]).toMatchObject([{ id: "one" }]);
});

function write(agent: string): void {
  writeFileSync(rows[0]!.configFile!, `agents: {${agent}: {terminal: {command: [sh]}}}\n`);
  utimesSync(rows[0]!.configFile!, 1_000, Date.now() / 1000);
}

/** As a daemon that starts does it. */
async function ids(build: string, now = Date.now() + 60_000): Promise<string[]> {
  const projects = openLazyProjects(
    {
      userConfig: join(root, "none.yaml"),
      trust: trustsAll,
      now: () => now,
      kept: {
        get: () => kept,
        put: async (text) => {
          kept = text;
        },
      },
    },
    build,
  );
  const { projects: found } = await projects.agents(rows);
  return Object.values(found).flatMap((said) => said?.map(({ id }) => id) ?? "wrong");
}
