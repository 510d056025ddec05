import { expect, test } from "vitest";
import type { Containment } from "../contract/containment.ts";
import { devcontainers } from "./doctor.ts";

type Needed = Parameters<typeof devcontainers>[0];

/** Only what the check asks. */
function partsWith(problems: string[], modes: Containment["mode"][]): Needed {
  const sessions = modes.map((mode) => ({ contain: { mode, network: "on", read: [], write: [] } }));
  return { contain: { preflight: async () => problems }, store: { sessions: () => sessions } } as unknown as Needed;
}

test("[NETWORK-17] missing tools for dev containers are a failure only if a session needs them", async () => {
  const problem = "devcontainer is not on the daemon's PATH.";
  expect(await devcontainers(partsWith([], []))).toMatchObject({ check: "dev containers", level: "ok" });
  expect(await devcontainers(partsWith([problem], ["worktree"]))).toMatchObject({ level: "info", message: problem });
  expect(await devcontainers(partsWith([problem], ["devcontainer"]))).toMatchObject({ level: "fail" });
});
