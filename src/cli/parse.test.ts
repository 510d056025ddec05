import { describe, expect, test } from "vitest";
import { commanderParse, type Parsed } from "./parse.ts";
import { index } from "./commands/index.ts";
import { type CommandEntry, type IndexEntry, optionsOf } from "./command.ts";
import type { Input } from "./input.ts";
import { leanParse } from "./lean-parse.ts";

const commands = walk(index, []);

function walk(lines: readonly IndexEntry[], path: string[]): { path: string[]; load: () => Promise<CommandEntry> }[] {
  return lines.flatMap((line) =>
    "group" in line
      ? walk(line.group, [...path, line.name])
      : [{ path: [...path, line.name], load: async () => (await line.load()).command }],
  );
}

async function commander(argv: readonly string[]): Promise<{ parsed: Parsed; text: string }> {
  const text: string[] = [];
  const take = (piece: string): void => void text.push(piece);
  const parsed = await commanderParse(index, argv, { out: take, err: take });
  return { parsed, text: text.join("\n") };
}

function seen(entry: CommandEntry, input: Input): unknown {
  const options = optionsOf(entry).map(({ long }) => [long, input.text(long) ?? input.flag(long)]);
  return { args: input.args, options };
}

describe.each(commands)("$path", ({ path, load }) => {
  test("[CLI-1] its help has a summary, its usage and an example that calls it", async () => {
    const entry = await load();
    const { parsed, text } = await commander([...path, "--help"]);
    expect(parsed).toEqual({ parsed: "done", exitCode: 0 });
    expect(text).toContain(`Usage: holdfast ${path.join(" ")}`);
    expect(entry.examples.length).toBeGreaterThan(0);
    for (const [what, line] of entry.examples) {
      expect(text).toContain(`$ ${line}`);
      expect(what).not.toBe("");
      expect(line).toContain(`holdfast ${path.join(" ")}`);
    }
  });

  test("[CLI-2] an unknown option is wrong usage, by both parsers", async () => {
    const entry = await load();
    expect(leanParse(entry, ["--no-such-option"])).toBeNull();
    const { parsed, text } = await commander([...path, "--no-such-option"]);
    expect(parsed).toEqual({ parsed: "done", exitCode: 2 });
    expect(text).toMatch(/^Unknown option '--no-such-option'\n/);
    expect(text).toMatch(new RegExp(`See holdfast ${path.join(" ")} --help\\.$|Did you mean --`));
  });

  test("[CLI-2] one argument too many or too few is wrong usage", async () => {
    const entry = await load();
    const wanted = entry.arguments ?? [];
    const required = wanted.filter(({ optional }) => optional !== true);
    const full = wanted.map(({ choices }) => choices?.[0] ?? "x");
    const wrong = [
      ...(required.length === 0 ? [] : [full.slice(0, required.length - 1)]),
      ...(wanted.at(-1)?.variadic === true ? [] : [[...full, "y"]]),
    ];
    for (const line of wrong) {
      expect(leanParse(entry, line)).toBeNull();
      expect((await commander([...path, ...line])).parsed).toEqual({ parsed: "done", exitCode: 2 });
    }
  });

  test("[CLI-4] what the lean parser takes, commander reads the same way", async () => {
    const entry = await load();
    const args = (entry.arguments ?? []).map(({ choices }, at) => choices?.[0] ?? `word-${at}`);
    const each = optionsOf(entry).map((option) => ({
      long: [`--${option.long}`, ...(option.value === undefined ? [] : [option.choices?.[0] ?? "value"])],
      short: option.short === undefined ? [] : [`-${option.short}`, ...(option.value === undefined ? [] : ["value"])],
    }));
    const lines = [
      args,
      [...each.flatMap(({ long }) => long), ...args],
      ...each.flatMap(({ long, short }) => [
        [...args, ...long],
        [...short, ...args],
      ]),
      ["--", ...args],
    ];
    for (const line of lines) {
      const lean = leanParse(entry, line);
      if (lean === null) throw new Error(`the lean parser does not take ${line.join(" ")}`);
      const { parsed } = await commander([...path, ...line]);
      if (parsed.parsed !== "run") throw new Error(`commander did not run ${path.join(" ")} ${line.join(" ")}`);
      expect(seen(entry, parsed.input)).toEqual(seen(entry, lean));
    }
  });
});

test("[CLI-4] rarer spellings are left to commander, which knows them", async () => {
  const entry = await commands.find(({ path }) => path.join(" ") === "session ls")!.load();
  for (const line of [["--project=my-app"], ["-pmy-app"], ["-ap", "my-app"]]) {
    expect(leanParse(entry, line)).toBeNull();
    const { parsed } = await commander(["session", "ls", ...line]);
    expect(parsed.parsed === "run" ? parsed.input.text("project") : null).toBe("my-app");
  }
});

test("[CLI-1] the program and each group list their commands; hidden ones are not named", async () => {
  const { parsed, text } = await commander(["--help"]);
  expect(parsed).toEqual({ parsed: "done", exitCode: 0 });
  for (const line of index) {
    const listed = new RegExp(`^  ${line.name} +${line.summary.slice(0, 12)}`, "m").test(text);
    expect([line.name, listed]).toEqual([line.name, !("hidden" in line)]);
  }
  expect(text).toContain("$ holdfast ");
  for (const { name } of index.filter((line) => "group" in line)) {
    expect((await commander([name, "--help"])).text).toContain(`$ holdfast ${name} `);
  }
  expect((await commander(["help", "spawn"])).text).toContain("Usage: holdfast spawn");
  expect((await commander(["session", "help", "kill"])).text).toContain("Usage: holdfast session kill");
  expect((await commander(["--version"])).parsed).toEqual({ parsed: "done", exitCode: 0 });
  expect((await commander(["session"])).parsed).toEqual({ parsed: "done", exitCode: 2 });
});

test("[CTL-1] every command but those that work alone takes --no-start", async () => {
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
