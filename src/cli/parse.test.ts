import { describe, expect, test } from "vitest";
import { type CommandEntry, type IndexEntry, optionsOf } from "./command.ts";
import { daemon } from "./commands/commands.fixture.ts";
import { index } from "./commands/index.ts";
import { parseInput } from "./parse.ts";

const commands = walk(index, []);

function walk(
  lines: readonly IndexEntry[],
  path: string[],
): { path: string[]; summary: string; load: () => Promise<CommandEntry> }[] {
  return lines.flatMap((line) =>
    "group" in line
      ? walk(line.group, [...path, line.name])
      : [{ path: [...path, line.name], summary: line.summary, load: line.load }],
  );
}

describe.each(commands)("$path", ({ path, summary, load }) => {
  test("[CLI-1] its help has a summary, its usage and an example that calls it", async () => {
    const entry = await load();
    const { run } = await daemon(null);
    const { code, out, err } = await run([...path, "--help"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`Usage: holdfast ${path.join(" ")}`);
    expect(out).toContain(summary);
    expect(entry.examples.length).toBeGreaterThan(0);
    for (const [what, line] of entry.examples) {
      expect(out).toContain(`$ ${line}`);
      expect(what).not.toBe("");
      expect(line).toContain(`holdfast ${path.join(" ")}`);
    }
  });

  test("its help is imperative: a capital first letter, no final period, summaries of at most 60 characters", async () => {
    const entry = await load();
    const described = [...(entry.arguments ?? []), ...optionsOf(entry)].map(({ description }) => description);
    for (const text of [summary, ...described]) expect(text).toMatch(/^[A-Z[].*[^.]$/);
    expect(summary.length).toBeLessThanOrEqual(60);
  });

  test("[CLI-2] an unknown option is wrong usage", async () => {
    const { run } = await daemon(null);
    const { code, out, err } = await run([...path, "--no-such-option"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^Unknown option '--no-such-option'\n/);
    expect(err).toMatch(new RegExp(`See holdfast ${path.join(" ")} --help\\.$|Did you mean --`));
  });

  test("[CLI-2] one argument too many or too few is wrong usage", async () => {
    const entry = await load();
    const accepted = entry.arguments ?? [];
    const required = accepted.filter(({ optional }) => optional !== true);
    const full = accepted.map(({ choices }) => choices?.[0] ?? "x");
    const wrong = [
      ...(required.length === 0 ? [] : [full.slice(0, required.length - 1)]),
      ...(accepted.at(-1)?.variadic === true ? [] : [[...full, "y"]]),
    ];
    const { run } = await daemon(null);
    for (const line of wrong) {
      expect(() => parseInput(entry, line)).toThrow(/^(Missing required argument|Too many arguments)/);
      expect((await run([...path, ...line])).code).toBe(2);
    }
  });

  test("[CLI-4] options count in front of, between and behind arguments, by either name", async () => {
    const entry = await load();
    const args = (entry.arguments ?? []).map(({ choices }, at) => choices?.[0] ?? `word-${at}`);
    expect(parseInput(entry, args)?.args).toEqual(args);
    expect(parseInput(entry, ["--", ...args])?.args).toEqual(args);
    for (const { long, short, value, choices, many } of optionsOf(entry)) {
      const given = value === undefined ? [] : [choices?.[0] ?? "value"];
      const names = [`--${long}`, ...(short === undefined ? [] : [`-${short}`])];
      for (const name of names) {
        for (const line of [
          [name, ...given, ...args],
          [...args, name, ...given],
        ]) {
          const input = parseInput(entry, line);
          expect(input?.args).toEqual(args);
          expect(input?.flag(long)).toBe(true);
          expect(many === true ? input?.list(long) : [input?.text(long)].filter((text) => text !== undefined)).toEqual(
            given,
          );
        }
      }
    }
  });
});

const entryOf = (path: string) => commands.find((command) => command.path.join(" ") === path)!.load();

test("[CLI-4] rarer spellings of options are read as well", async () => {
  const entry = await entryOf("session ls");
  for (const line of [["--project=my-app"], ["-pmy-app"], ["-ap", "my-app"], ["-p", "x", "-p", "my-app"]]) {
    expect(parseInput(entry, line)?.text("project")).toBe("my-app");
  }
  const spawn = await entryOf("spawn");
  expect(parseInput(spawn, ["--prompt", "- one\n- two"])?.text("prompt")).toBe("- one\n- two");
  expect(parseInput(spawn, ["--prompt", "--help"])?.text("prompt")).toBe("--help");
  expect(parseInput(await entryOf("send"), ["ma-1", "--", "--help"])?.args).toEqual(["ma-1", "--help"]);
  expect(parseInput(entry, ["-h"])).toBeNull();
});

test("[CLI-2] a value that is missing, superfluous or not one of the choices is wrong usage", async () => {
  const entry = await entryOf("spawn");
  expect(() => parseInput(entry, ["--prompt"])).toThrow("Option '--prompt' requires a value: <text>.");
  expect(() => parseInput(entry, ["--json=yes"])).toThrow("Option '--json' does not accept a value.");
  expect(() => parseInput(entry, ["--kind", "x"])).toThrow("--kind must be one of terminal, chat, not 'x'");
});

test("[CLI-1] the program and each group list their commands; hidden ones are not named", async () => {
  const { run } = await daemon(null);
  const { code, out } = await run(["--help"]);
  expect(code).toBe(0);
  for (const line of index) {
    const listed = new RegExp(`^  ${line.name} +${line.summary.slice(0, 12)}`, "m").test(out);
    expect([line.name, listed]).toEqual([line.name, !("hidden" in line)]);
  }
  expect(out).toContain("$ holdfast ");
  for (const line of index.filter((one) => "group" in one)) {
    expect(line.summary).toMatch(/^[A-Z].{1,58}[^.]$/);
    expect((await run([line.name, "--help"])).out).toContain(`$ holdfast ${line.name} `);
  }
  expect((await run(["help", "spawn"])).out).toContain("Usage: holdfast spawn");
  expect((await run(["session", "help", "kill"])).out).toContain("Usage: holdfast session kill");
  expect((await run(["--version"])).code).toBe(0);
  expect((await run(["session"])).code).toBe(2);
});

test("[CLI-45] every command but those that work alone takes --no-start", async () => {
  const alone = new Set<string>();
  for (const { path, load } of commands) if ((await load()).daemon === "alone") alone.add(path.join(" "));
  expect([...alone].toSorted()).toEqual(
    [
      "complete",
      "completion",
      "doctor",
      "info",
      "logs",
      "passphrase",
      "restart",
      "service install",
      "service uninstall",
      "start",
      "stop",
      "update",
    ].toSorted(),
  );
});
