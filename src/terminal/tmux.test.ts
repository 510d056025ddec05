import { expect, test } from "vitest";
import { classify } from "./tmux.ts";

test.each([
  ["no server running on /tmp/tmux-1000/holdfast", "no-server"],
  ["error connecting to /tmp/tmux-1000/holdfast (No such file or directory)", "no-server"],
  ["error connecting to /tmp/tmux-1000/holdfast (Permission denied)", "unknown"],
  ["error connecting to /tmp/tmux-1000/holdfast (Connection refused)", "unknown"],
  ["server exited unexpectedly", "unknown"],
  ["lost server", "unknown"],
  ["", "unknown"],
  ["duplicate session: worker-p-t-1", "refused"],
  ["can't find pane: %7", "refused"],
])("[TERMINAL-14] %j is %s", (message, is) => {
  expect(classify(message, 1).is).toBe(is);
});

test("[TERMINAL-14] a client that was killed knows nothing", () => {
  expect(classify("no server running on /x", null, "SIGKILL").is).toBe("unknown");
});
