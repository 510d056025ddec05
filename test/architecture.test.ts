/** Who may import whom, by folder; and that every rule of the spec has a test, and every quoted rule exists. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { checkedFiles, findWords } from "../scripts/words.ts";

const root = join(import.meta.dirname, "..");
const source = join(root, "src");

/** Our folders that each folder may import, and the libraries it may use. */
const adapter = { ours: ["ports", "model", "contract", "base"], why: "an adapter knows its port, not its caller" };
const allowed: Record<string, { ours: string[]; libraries: string[]; why: string }> = {
  contract: { ours: [], libraries: ["zod"], why: "the browser uses it too: no Node, no DOM" },
  model: { ours: ["contract"], libraries: ["zod"], why: "pure code that the daemon, the CLI and the browser share" },
  ports: { ours: ["contract", "model"], libraries: [], why: "types only, no implementations" },
  base: { ours: [], libraries: ["node:"], why: "helpers without domain" },
  agents: { ...adapter, libraries: ["node:", "@agentclientprotocol/sdk"], why: "agents are data" },
  contain: { ...adapter, libraries: ["node:"] },
  config: {
    // The registries are data: what can be configured is defined where it is implemented.
    ours: [...adapter.ours, "agents/registry.ts", "integrations/notifiers", "integrations/trackers/registry.ts"],
    libraries: ["node:", "yaml", "zod"],
    why: "reads files, decides nothing",
  },
  chat: { ...adapter, libraries: ["node:", "@agentclientprotocol/sdk"] },
  terminal: { ...adapter, libraries: ["node:", "@lydell/node-pty"] },
  worktree: { ...adapter, libraries: ["node:"] },
  store: { ...adapter, libraries: ["node:"] },
  integrations: {
    ours: [...adapter.ours, "supervisor"],
    libraries: ["node:", "zod", "@octokit/core"],
    why: "it acts on sessions through the supervisor alone",
  },
  supervisor: {
    ours: adapter.ours,
    libraries: ["node:"],
    why: "it knows its parts by their ports; only daemon/main.ts names adapters",
  },
  api: {
    ours: [...adapter.ours, "supervisor", "integrations"],
    libraries: ["node:"],
    why: "handlers of the contract; only daemon/main.ts names adapters",
  },
  daemon: {
    ours: [...adapter.ours, "supervisor", "api"],
    libraries: ["node:"],
    why: "only daemon/main.ts names adapters",
  },
  server: {
    ours: ["contract", "model", "ports", "base"],
    libraries: ["node:", "ws", "zod"],
    why: "it calls handlers through ports",
  },
  client: { ours: ["contract", "model"], libraries: ["zod"], why: "it runs in Node and in browsers" },
  cli: {
    ours: ["client", "contract", "model", "base", "config", "agents/registry.ts"],
    libraries: ["node:", "uqr"],
    why: "it reaches the daemon over its socket, or starts it as a process",
  },
  web: {
    ours: ["client", "contract", "model"],
    libraries: [
      "react",
      "react-dom",
      "wouter",
      "zustand",
      "radix-ui",
      "lucide-react",
      "cmdk",
      "clsx",
      "class-variance-authority",
      "virtua",
      "streamdown",
      "@pierre/diffs",
      "@xterm",
    ],
    why: "it is a view of the model",
  },
};
const composition = "daemon/main.ts";

test("[ARCH-1] every import follows the table of who may import whom", () => {
  const wrong: string[] = [];
  for (const file of sources()) {
    const folder = file.split("/")[0]!;
    const rule = allowed[folder];
    if (rule === undefined) {
      wrong.push(`src/${file}: the folder src/${folder} is not in the table`);
      continue;
    }
    for (const name of imports(readFileSync(join(source, file), "utf8"))) {
      if (isAllowed(file, folder, name, rule)) continue;
      wrong.push(
        `src/${file} imports ${name}: src/${folder} may import ${[...rule.ours, ...rule.libraries].join(", ") || "nothing"} (${rule.why})`,
      );
    }
  }
  expect(wrong).toEqual([]);
});

const pages = ["board", "session", "chat", "terminal", "changes", "new-session", "settings"];
/** Who may import whom inside a folder with rooms. A room that is not listed may import only itself. `.` is the folder's top level. */
const inside: Record<string, Record<string, string[]>> = {
  web: {
    ".": ["app", "shared/data"],
    app: [...pages, "shared"],
    ...Object.fromEntries(pages.map((page) => [page, ["shared"]])),
    "shared/verbs": ["shared/ui", "shared/data"],
    "shared/ui": ["shared/data"],
    "shared/data": [],
  },
  cli: {
    ".": ["commands", "render", "system"],
    commands: [".", "chat", "doctor", "mcp", "render", "system"],
    chat: [".", "render", "system"],
    doctor: [".", "render", "system"],
    mcp: [".", "render", "commands"],
    render: [".", "system"],
    system: ["."],
  },
  worktree: {
    ".": ["create", "trash", "changes", "git"],
    create: [".", "git", "trash"],
    trash: [".", "git", "create", "changes"],
    changes: [".", "git", "create"],
    git: ["."],
  },
};

test("[ARCH-3] inside a folder, rooms import only what the second table allows", () => {
  const wrong: string[] = [];
  const roomOf = (folder: string, file: string): string => {
    const room = dirname(relative(folder, file));
    return Object.keys(inside[folder]!).find((name) => room === name || room.startsWith(`${name}/`)) ?? room;
  };
  for (const file of sources()) {
    const folder = file.split("/")[0]!;
    const rules = inside[folder];
    if (rules === undefined) continue;
    const from = roomOf(folder, file);
    for (const name of imports(readFileSync(join(source, file), "utf8"))) {
      const target = relative(source, resolve(source, dirname(file), name));
      if (!name.startsWith(".") || !target.startsWith(`${folder}/`)) continue;
      const to = roomOf(folder, target);
      const may = rules[from] ?? [];
      if (to === from || may.some((room) => to === room || to.startsWith(`${room}/`))) continue;
      wrong.push(`src/${file} imports ${name}: ${folder}/${from} may import ${may.join(", ") || "only itself"}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("[ARCH-3] inside api, no noun imports another; the daemon's own reports on them", () => {
  const importsOf = (file: string): string[] =>
    imports(readFileSync(join(source, "api", file), "utf8")).flatMap((name) => /^\.\/(.+)$/.exec(name)?.[1] ?? []);
  const files = sources().flatMap((file) => /^api\/(.+)$/.exec(file)?.[1] ?? []);
  const nouns = importsOf("handlers.ts").filter((file) =>
    /Handlers\(/.test(readFileSync(join(source, "api", file), "utf8")),
  );
  expect(nouns.length).toBeGreaterThan(10);
  const wrong = files
    .filter((file) => file !== "handlers.ts" && file !== "daemon.ts")
    .flatMap((file) => importsOf(file).flatMap((name) => (nouns.includes(name) ? [`${file} imports ${name}`] : [])));
  expect(wrong).toEqual([]);
});

test("[ARCH-4] comments, messages and documentation use none of the listed words", () => {
  const found = checkedFiles().flatMap((file) => findWords(file, readFileSync(join(root, file), "utf8")));
  expect(found.map(({ file, line, word, instead }) => `${file}:${line}: "${word}": ${instead}`)).toEqual([]);
});

test("[ARCH-2] every rule that a test quotes is in the spec, and every rule of the spec is quoted by a test", () => {
  const spec = new Set(
    [...readFileSync(join(root, "docs/spec.md"), "utf8").matchAll(/^- \*\*([A-Z]+-R?\d+[a-z]?)\*\*/gm)].map(
      (match) => match[1]!,
    ),
  );
  const quoted = new Set<string>();
  for (const file of tests()) {
    for (const title of readFileSync(file, "utf8").matchAll(/\[((?:[A-Z]+-R?\d+[a-z]?(?:, )?)+)\]/g)) {
      for (const id of title[1]!.split(", ")) quoted.add(id);
    }
  }
  expect([...quoted].filter((id) => !spec.has(id)).toSorted()).toEqual([]);
  expect([...spec].filter((id) => !quoted.has(id)).toSorted()).toEqual([]);
});

test("[SESSION-36] one file makes intents; everywhere else they come from a verb", () => {
  const makes = /type:\s*"session\.intent"(?:\s*as const)?\s*[,}]|\bas (?:IntentEvent|SessionEvent|FactEvent|Judged)\b/;
  const makers = sources().filter((file) => makes.test(readFileSync(join(source, file), "utf8")));
  expect(makers).toEqual(["model/lifecycle.ts"]);
});

test("[GIT-3] one file starts git, each call names its kind, and one file defines what each kind may do", () => {
  const texts = new Map(sources().map((file) => [file, readFileSync(join(source, file), "utf8")]));
  const starts = /\b(?:spawn|spawnSync|exec|execFile|execFileSync|execSync|run|startChild)\(\s*\[?\s*["'`]git\b/;
  const files = (pattern: RegExp): string[] =>
    [...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file);
  // The first two create their own repository, in their own directory.
  expect(files(starts).toSorted()).toEqual([
    "cli/commands/demo/project.ts",
    "cli/doctor/prove.ts",
    "worktree/git/git.ts",
  ]);
  expect(files(/gitEnvironment/).toSorted()).toEqual(["worktree/git/git-rules.ts", "worktree/git/git.ts"]);
  // Only two kinds may use transports, and both have one caller.
  expect(files(/(?:runGit|askGit|git)\(\s*"fetch"/)).toEqual(["worktree/create/fetch-missing.ts"]);
  expect(files(/(?:runGit|askGit|git)\(\s*"fill"/)).toEqual(["worktree/create/submodules.ts"]);
  // git may discover the repository on its own only where only the user or we wrote `.git`.
  expect(files(/\bdiscover:/).toSorted()).toEqual(["worktree/create/submodules.ts", "worktree/git/repository.ts"]);
});

function isAllowed(file: string, folder: string, name: string, rule: { ours: string[]; libraries: string[] }): boolean {
  if (!name.startsWith(".")) {
    return rule.libraries.some((library) =>
      library.endsWith(":") ? name.startsWith(library) : name === library || name.startsWith(`${library}/`),
    );
  }
  if (file === composition) return true;
  const target = relative(source, resolve(source, dirname(file), name));
  return [folder, ...rule.ours].some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
}

function imports(text: string): string[] {
  return [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)[^;"']*?from\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)|(?:^|\n)import\s*"([^"]+)"/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3]!);
}

function sources(): string[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.(p?test|fixture)\.tsx?$|vite\.config\.ts$|test-support\//.test(file),
  );
}

function tests(): string[] {
  return ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith("test.ts"))
      .map((file) => join(root, folder, file)),
  );
}
