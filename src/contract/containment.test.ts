import { expect, test } from "vitest";
import {
  atLeast,
  describeContainment,
  notContained,
  parseNetwork,
  tightenedBy,
  withWish,
  type Containment,
} from "./containment.ts";

const allow = (...hosts: string[]): { allow: string[] } => ({ allow: hosts });

test("[CONTAIN-9] a repository's file sets a mode where the person set none, and never loosens one", () => {
  expect(tightenedBy({}, {}, true)).toEqual(notContained);
  expect(tightenedBy({}, { mode: "worktree" }, false).mode).toBe("worktree");
  expect(tightenedBy({ mode: "worktree" }, { mode: "off" }, true).mode).toBe("worktree");
  // What is in a dev container is the repository's to say.
  expect(tightenedBy({ mode: "worktree" }, { mode: "devcontainer" }, true).mode).toBe("worktree");
});

test("[CONTAIN-9] a repository's file narrows the network, and opens folders only where it is trusted and the person says nothing", () => {
  expect(tightenedBy({ network: "on" }, { network: "off" }, false).network).toBe("off");
  expect(tightenedBy({ network: "off" }, { network: "on" }, true).network).toBe("off");
  expect(tightenedBy({ network: allow("a", "b") }, { network: allow("b", "c") }, true).network).toEqual(allow("b"));
  expect(tightenedBy({ network: allow("a") }, {}, true).network).toEqual(allow("a"));
  const wish = { read: ["~/.ssh"], write: ["~/.aws"] };
  expect(tightenedBy({ mode: "worktree" }, wish, false)).toMatchObject({ read: [], write: [] });
  expect(tightenedBy({ mode: "worktree" }, wish, true)).toMatchObject(wish);
  expect(tightenedBy({ read: [], write: ["npm"] }, wish, true)).toMatchObject({ read: [], write: ["npm"] });
});

test("[CONTAIN-10] an agent's own session bounds what it asks for", () => {
  const own: Containment = { mode: "worktree", network: allow("a"), read: ["/r"], write: ["npm"] };
  expect(atLeast(own, notContained)).toEqual({ mode: "worktree", network: allow("a"), read: [], write: [] });
  const asked: Containment = { mode: "off", network: "off", read: ["/r", "npm", "/etc"], write: ["npm", "/r"] };
  expect(atLeast(own, asked)).toEqual({ mode: "worktree", network: "off", read: ["/r", "npm"], write: ["npm"] });
  expect(atLeast(notContained, asked)).toBe(asked);
});

test("[CONTAIN-9] the person's word replaces what the project says, field by field", () => {
  const project: Containment = { mode: "worktree", network: "off", read: ["/r"], write: [] };
  expect(withWish(project, { mode: "off" })).toEqual({ ...project, mode: "off" });
  expect(withWish(project, { network: "on" })).toEqual({ ...project, network: "on" });
});

test("[CONTAIN-9] --network takes on, off or hosts", () => {
  expect(parseNetwork("on")).toBe("on");
  expect(parseNetwork("api.example.com, *.npmjs.org,localhost:8080")).toEqual(
    allow("api.example.com", "*.npmjs.org", "localhost:8080"),
  );
  for (const text of ["", "https://a.example", "a b", "a,,b", "-x"]) expect(parseNetwork(text)).toBeNull();
  expect(describeContainment({ mode: "worktree", network: allow("a", "b"), read: [], write: [] })).toBe(
    "worktree, network a, b",
  );
});
