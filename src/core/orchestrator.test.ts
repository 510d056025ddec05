import { expect, test } from "vitest";
import { orchestratorInstructions } from "./orchestrator.ts";

test("[ROLE-3] an orchestrator's instructions name its project's commands and what is not its to say", () => {
  const facts = { id: "ma-1", project: "my-app", defaultBranch: "main", tracker: null };
  const text = orchestratorInstructions(facts);
  for (const command of [
    "spawn my-app --prompt",
    "session ls -p my-app",
    "session screen",
    "send <id>",
    "events <id>",
  ]) {
    expect(text).toContain(`holdfast ${command}`);
  }
  expect(text).toContain("for a person: ask");
  expect(text).not.toContain("spawn my-app 123");
  expect(orchestratorInstructions({ ...facts, tracker: "owner/my-app" })).toContain("holdfast spawn my-app 123");
});
