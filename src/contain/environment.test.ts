import { expect, test } from "vitest";
import { containedEnvironment } from "./environment.ts";

test("[CONTAIN-2] variables that lead to the user are dropped; those for the agent's model and those set on purpose stay", () => {
  const env = {
    PATH: "/bin",
    HOME: "/home/me",
    ANTHROPIC_API_KEY: "a",
    CLAUDE_CODE_OAUTH_TOKEN: "a",
    HTTPS_PROXY: "http://p",
    SSH_AUTH_SOCK: "/s",
    DBUS_SESSION_BUS_ADDRESS: "unix:",
    XDG_RUNTIME_DIR: "/run/user/1",
    HOLDFAST_HOME: "/h",
    GITHUB_TOKEN: "g",
    GH_TOKEN: "g",
    AWS_SECRET_ACCESS_KEY: "s",
    GOOGLE_APPLICATION_CREDENTIALS: "/f",
    STRIPE_API_KEY: "s",
    DOCKER_HOST: "unix:///d",
    MY_TOKEN: "m",
  };
  const kept = (given: string[], more: Record<string, string> = {}): string[] =>
    Object.keys(containedEnvironment({ ...env, ...more }, given));
  const always = ["PATH", "HOME", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"];
  expect(kept([])).toEqual(always);
  expect(kept(["MY_TOKEN", "GH_TOKEN", "HOLDFAST_HOME"])).toEqual([...always, "GH_TOKEN", "MY_TOKEN"]);
  expect(kept([], { CLAUDE_CODE_USE_BEDROCK: "1" })).toContain("AWS_SECRET_ACCESS_KEY");
});
