import { expect, test } from "vitest";
import { asProjectId, asSessionId } from "../contract/ids.ts";
import { otherName, safeName, tmuxName } from "./launch-files.ts";

const named = (role: "worker" | "orchestrator" | "shell", id: string, project = "my-app"): string =>
  tmuxName({ role, project: asProjectId(project), id: asSessionId(id) });

test("[TERMINAL-18] names follow the role's pattern", () => {
  expect(named("worker", "ma-int-456")).toBe("worker-my-app-ma-int-456");
  expect(named("orchestrator", "ma-1")).toBe("orchestrator-my-app");
  expect(named("shell", "ma-3")).toBe("shell-my-app-3");
});

test("[WORKTREE-2] nothing that tmux reads stays in a name, and different texts give different names", () => {
  const odd = ["a.b", "a:b", "a#b", "a#(touch /tmp/x)b", "a b", "a\nb", "a\u001bb", "a=b", "a$b", "a%b", "a_b"];
  const safe = odd.map(safeName);
  for (const name of safe) expect(name).toMatch(/^[a-z0-9_-]+$/);
  expect(new Set(safe).size).toBe(odd.length);
  expect(safeName("größe-日本語")).toBe("größe-日本語");
});

test("[TERMINAL-18] a long name is cut and stays unique by a hash", () => {
  const one = safeName(`${"x".repeat(200)}1`);
  const other = safeName(`${"x".repeat(200)}2`);
  expect(one).toHaveLength(80);
  expect(one).not.toBe(other);
  expect(otherName(one, "t-1").length).toBeLessThanOrEqual(80);
});
