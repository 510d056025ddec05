import { describe, expect, test } from "vitest";
import { daemon } from "./commands.fixture.ts";

describe("unknown words", () => {
  test("[CLI-3] an unknown command exits 2 and names the nearest", async () => {
    const { run } = await daemon(null);
    expect(await run(["inof"])).toEqual({
      code: 2,
      out: "",
      err: "Unknown command: inof\nDid you mean holdfast info?",
    });
    expect(await run(["session", "kil", "x"])).toEqual({
      code: 2,
      out: "",
      err: "Unknown command: session kil\nDid you mean holdfast session kill?",
    });
    expect(await run(["qqqqqq"])).toEqual({ code: 2, out: "", err: "Unknown command: qqqqqq\nSee holdfast --help." });
  });

  test.each([
    [["kill", "ma-1"], "holdfast session kill ma-1"],
    [["ls"], "holdfast session ls"],
    [["ps"], "holdfast acp ps"],
    [["approve", "ma-1", "--always"], "holdfast acp approve ma-1 --always"],
    [["cancel", "ma-1"], "holdfast acp cancel ma-1"],
    [["tail", "ma-1"], "holdfast acp tail ma-1"],
    [["restore", "a b"], "holdfast session restore 'a b'"],
  ])("[CLI-33] %j names the command in its group", async (argv, meant) => {
    const { run } = await daemon(null);
    expect(await run(argv)).toEqual({
      code: 2,
      out: "",
      err: `Unknown command: ${argv[0]}\nDid you mean: ${meant}`,
    });
  });

  test("[CLI-33] version, -v and --version print the version; holdfast alone is help on stdout, exit 0", async () => {
    const { run } = await daemon(null);
    const { out } = await run(["--version"]);
    expect(out).toMatch(/^\d+\.\d+\.\d+/);
    for (const word of ["version", "-v", "-V"]) expect(await run([word])).toEqual({ code: 0, out, err: "" });
    const alone = await run([]);
    expect([alone.code, alone.err, alone.out.startsWith("Usage: holdfast")]).toEqual([0, "", true]);
  });

  test.each([
    [["help"], "Usage: holdfast [options]"],
    [["help", "spawn"], "Usage: holdfast spawn"],
    [["help", "session"], "Usage: holdfast session"],
    [["help", "session", "ls"], "Usage: holdfast session ls"],
    [["session", "help", "ls"], "Usage: holdfast session ls"],
    [["session", "--help"], "Usage: holdfast session"],
  ])("[CLI-1] %j is help, exit 0", async (argv, usage) => {
    const { run } = await daemon(null);
    const ran = await run(argv);
    expect([ran.code, ran.err, ran.out.startsWith(usage)]).toEqual([0, "", true]);
    expect((await run(["help", "spwan"])).code).toBe(2);
    expect((await run(["session"])).code).toBe(2);
  });

  test("[CLI-2] an empty session name is wrong usage", async () => {
    const { run } = await daemon({});
    expect(await run(["session", "kill", ""])).toEqual({
      code: 2,
      out: "",
      err: "The argument session is empty.\nSee holdfast session kill --help.",
    });
    expect(await run(["spawn", ""])).toEqual({
      code: 2,
      out: "",
      err: "The argument project is empty.\nSee holdfast spawn --help.",
    });
    expect((await run(["spawn", "my-app", ""])).code).toBe(2);
    expect((await run(["batch-spawn", "", ""])).code).toBe(2);
  });
});
