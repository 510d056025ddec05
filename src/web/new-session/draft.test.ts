import { expect, test } from "vitest";
import { requestOf, withoutFlags, type Draft } from "./draft.ts";

const empty: Draft = { project: "my-app", prompt: "", issue: "", name: "", agent: "", kind: "", branch: "", base: "" };

test("[WEB-8] only filled-in fields are sent; the prompt is not trimmed", () => {
  expect(requestOf(empty)).toEqual({ project: "my-app" });
  const draft: Draft = { ...empty, prompt: "  do\n  this\n", issue: " 12 ", branch: "   ", kind: "chat" };
  expect(requestOf(draft)).toEqual({ project: "my-app", prompt: "  do\n  this\n", issue: "12", kind: "chat" });
});

test("[WEB-9] preflight hints name the form's fields, not command-line options", () => {
  expect(withoutFlags("Name another one with --branch.")).toBe("Name another one.");
  expect(withoutFlags("Set the project's defaultBranch, or name a base with --base.")).toBe(
    "Set the project's defaultBranch, or name a base.",
  );
  expect(withoutFlags("Try --kind chat.")).toBe("Try the kind chat.");
});
