import { join } from "node:path";
import { expect, test } from "vitest";
import { HoldfastError } from "../../contract/errors.ts";
import { withOwnPath } from "../commands/spawn/call-spawn.ts";
import { checkScreens } from "./machine.ts";
import { droppedVariables, judgeDropped, judgeVariables, missingInService } from "./environment.ts";
import { checkAgents, judgeConfigured } from "./tools.ts";

const restart = "run `holdfast restart` in a shell that has it";

test("[CLI-43] configured variables that the daemon lacks are reported with a fix", () => {
  const named = [
    { name: "MY_TOKEN", file: "/r/holdfast.yaml" },
    { name: "OTHER", file: "/c.yaml" },
    { name: "ACME_*", file: "/c.yaml" },
    { name: "HAS", file: "/c.yaml" },
  ];
  const found = judgeVariables({ MY_TOKEN: "secret" }, { variables: ["HAS", "PATH"] }, named, restart);
  expect(found.map(({ level, message, fix }) => [level, message, fix])).toEqual([
    [
      "warn",
      "The running daemon does not have MY_TOKEN, which /r/holdfast.yaml names.",
      "Run `holdfast restart` in a shell that has it",
    ],
    [
      "warn",
      "The running daemon does not have OTHER, which /c.yaml names.",
      "Set OTHER, then run `holdfast restart` in a shell that has it",
    ],
  ]);
  expect(JSON.stringify(found)).not.toContain("secret");
});

test("[CLI-43] variables exported after the daemon started are reported", () => {
  const env = { ANTHROPIC_API_KEY: "x", ACME_MODE: "x", ACME_TOKEN: "x", PATH: "/bin", LANG: "C", MY_TOKEN: "x" };
  const [found, ...more] = judgeVariables(env, { variables: [] }, [{ name: "ACME_*", file: "f" }], restart);
  expect(found?.message).toBe(
    "Set in this shell, but not when the daemon started: ACME_MODE, ACME_TOKEN, ANTHROPIC_API_KEY",
  );
  expect(more).toEqual([]);
  // A daemon of an earlier build does not report what it has.
  expect(judgeVariables(env, {}, [{ name: "MY_TOKEN", file: "f" }], restart)).toEqual([]);
});

test("[CLI-43] dropped variables are named, without other programs' marks and without values", () => {
  const env = {
    MY_REGISTRY_TOKEN: "secret",
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    CLAUDE_CODE_ENTRYPOINT: "cli",
    npm_config_token: "x",
    ANTHROPIC_API_KEY: "x",
    HOLDFAST_TRACKER_TOKEN: "x",
    ACME_TOKEN: "x",
    EDITOR: "vi",
  };
  const named = [{ name: "ACME_*", file: "f" }];
  expect(droppedVariables(env, named)).toEqual(["CLAUDE_CODE_ENABLE_TELEMETRY", "MY_REGISTRY_TOKEN"]);
  expect(JSON.stringify(judgeDropped(env, named))).not.toContain("secret");
  expect(judgeDropped({ EDITOR: "vi" }, [])).toEqual([]);
});

test("[CLI-43] `service install` names the variables that the service lacks", () => {
  const env = { ANTHROPIC_API_KEY: "secret", MY_TOKEN: "x", ACME_A: "x", PATH: "/bin", LANG: "C" };
  const lines = missingInService(env, [{ name: "ACME_*", file: "f" }], "systemd");
  expect(lines[0]).toBe("These variables of your shell are not passed to the service: ACME_A, ANTHROPIC_API_KEY");
  expect(lines.join("\n")).not.toContain("secret");
  expect(missingInService({ PATH: "/bin" }, [], "launchd")).toEqual([]);
});

test("[CLI-44] a program that only the shell finds is installed, but not for the daemon", () => {
  const [claude] = checkAgents({ PATH: "" }, { PATH: "" }).filter(({ check }) => check === "agent claude");
  expect(claude?.level).toBe("info");
  // Any program will do that this system has under an agent's name; sh stands for it in the sentence below.
  const error = new HoldfastError("preflight-failed", "sh was not found on PATH. Install it.\nOnly 3 MB are free.", {
    hint: "Nothing was created.",
    details: { missingPrograms: [{ program: "sh", message: "sh was not found on PATH. Install it." }] },
  });
  const explained = withOwnPath(error, { PATH: "/bin" }) as HoldfastError;
  expect([explained.code, explained.message, explained.hint]).toEqual([
    "preflight-failed",
    "sh is not on the daemon's PATH. This shell finds it at /bin/sh: the daemon was started with another PATH.\nOnly 3 MB are free.",
    "Run `holdfast restart` here, then spawn again. Sessions keep running. Nothing was created.",
  ]);
  expect(withOwnPath(error, { PATH: "/nonexistent" })).toBe(error);
  expect(withOwnPath(new Error("x"), { PATH: "/bin" })).toBeInstanceOf(Error);
});

test("[CLI-44] agents of configuration files are reported as the daemon finds them", () => {
  const agent = { name: "x", kinds: [], installed: true, command: "mine" };
  const found = judgeConfigured([
    { ...agent, id: "claude", reason: "claude was not found on PATH." },
    { ...agent, id: "mine", reason: null },
    { ...agent, id: "claude", reason: "x was not found on PATH.", project: "app" },
  ]);
  expect(found.map(({ check, level, message }) => [check, level, message])).toEqual([
    ["agent mine", "ok", "mine"],
    ["agent claude of app", "warn", "x was not found on PATH."],
  ]);
});

test("[CLI-63] the terminal package is resolved next to the program", () => {
  expect(checkScreens({ dist: join(import.meta.dirname, "../../../dist") }).level).toBe("ok");
  expect(checkScreens({ dist: "/nonexistent/dist" })).toMatchObject({
    level: "warn",
    message: "The package @lydell/node-pty is missing: the dashboard cannot show terminals.",
  });
});
