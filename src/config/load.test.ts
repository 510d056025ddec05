import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { file } from "./load.fixture.ts";
import { loadConfig, parseConfig } from "./load.ts";
import { formatProblem, maxConfigBytes } from "./file.ts";

describe("parseConfig", () => {
  test.each([
    ["nothing", ""],
    ["blanks", "\n  \n"],
    ["comments", "# agents:\n#   mine: {}\n"],
    ["maps whose lines are commented out", "defaults:\nprojects:\n  app:\n    env:\n    copy:\n"],
    ["a byte order mark", "\ufeffdefaults: {}\n"],
    ["carriage returns", "defaults:\r\n  agent: codex\r\n"],
  ])("[CONFIG-4] %s is a good file", async (_, text) => {
    expect(await parseConfig(file, text)).toMatchObject({ ok: true });
  });

  test("the examples of the README are good files", async () => {
    const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
    const examples = [...readme.matchAll(/^```yaml\n([^]*?)^```$/gm)].map((match) => match[1]!);
    expect(examples.length).toBeGreaterThan(0);
    for (const text of examples) {
      // Notifications and rules are for the user's own file alone.
      const kind = /^(notify|permissions):/.test(text) ? "user" : "project";
      expect(await parseConfig(file, text, kind)).toMatchObject({ ok: true });
    }
  });

  test("an anchor can be used again", async () => {
    const text = "projects:\n  a: {env: &e {X: y}}\n  b: {env: *e}\n";
    expect(await parseConfig(file, text)).toMatchObject({ ok: true, config: { projects: { b: { env: { X: "y" } } } } });
  });
});

describe("loadConfig", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "holdfast-config-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const put = (name: string, content: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const said = async (path: string): Promise<string[]> => {
    const loaded = await loadConfig(path);
    return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem, "f"));
  };

  test("[CONFIG-6] a file over 1 MiB is refused", async () => {
    const path = put("big.yaml", `${"#".repeat(maxConfigBytes)}\n`);
    expect(await said(path)).toEqual(["f:1:1: is larger than 1 MiB (a configuration file is small text)"]);
  });

  test("[CONFIG-6] a file that is not UTF-8 is refused with the line", async () => {
    const path = put("latin.yaml", Buffer.from("defaults: {}\n# caf\xe9\n", "latin1"));
    expect(await said(path)).toEqual(["f:2:1: is not UTF-8 text (save the file as UTF-8)"]);
  });

  test("[CONFIG-6] a directory of that name is refused", async () => {
    mkdirSync(join(directory, "dir.yaml"));
    expect(await said(join(directory, "dir.yaml"))).toEqual(["f:1:1: is not a file (it is a directory)"]);
  });

  test.skipIf(process.getuid?.() === 0)(
    "[CONFIG-6] a file that may not be read says so (needs a user other than root)",
    async () => {
      const path = put("secret.yaml", "");
      chmodSync(path, 0);
      expect(await said(path)).toEqual(["f:1:1: may not be read (check its permissions)"]);
    },
  );

  test("an absent holdfast.yaml is a problem, an absent config.yaml is not", async () => {
    const path = join(directory, "none.yaml");
    expect(await said(path)).toEqual(["f:1:1: the file does not exist (create one: holdfast init)"]);
    expect(await loadConfig(path, "user")).toMatchObject({ ok: true, config: {} });
  });
});
