import { expect, test } from "vitest";
import { findCgroupRoot, openCgroups } from "./cgroup.ts";

const v2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
const hybrid = [
  "31 25 0:27 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer",
  "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
].join("\n");
const freezer = "31 25 0:27 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer";

test.each([
  [
    "a delegated unit",
    v2,
    "0::/user.slice/user@1.service/app.slice/holdfast.service",
    "cgroup v2",
    "/sys/fs/cgroup/user.slice/user@1.service/app.slice/holdfast.service",
    false,
  ],
  ["the root of a hybrid system", hybrid, "6:freezer:/\n0::/", "cgroup v2", "/sys/fs/cgroup/unified", false],
  ["v1 alone", freezer, "6:freezer:/jobs\n5:devices:/", "cgroup v1, freezer", "/sys/fs/cgroup/freezer/jobs", false],
  [
    "a daemon started by an agent",
    v2,
    "0::/a.scope/holdfast-0a1b/ma-1-x/sub",
    "cgroup v2",
    "/sys/fs/cgroup/a.scope",
    true,
  ],
  [
    "a container that shows a part",
    v2.replace(" / /sys", " /docker/1 /sys"),
    "0::/docker/1/x",
    "cgroup v2",
    "/sys/fs/cgroup/x",
    false,
  ],
  ["a mount point with a space", v2.replace("/sys/fs/cgroup", "/a\\040b"), "0::/", "cgroup v2", "/a b", false],
])("[TERMINAL-4] cgroups of launches lie below the daemon's own: %s", (_, mounts, own, how, directory, inLaunch) => {
  expect(findCgroupRoot({ mounts, own })).toEqual({ how, directory, inLaunch });
});

test("[TERMINAL-4] where none can be made, launches do without, and the reason is known", () => {
  expect(findCgroupRoot({ mounts: "", own: "0::/" })).toBeNull();
  expect(findCgroupRoot({ mounts: v2, own: "0::/../outside" })).toBeNull();
  const none = openCgroups("holdfast-0a", null, { mounts: v2.replace("/sys/fs/cgroup", "/proc"), own: "0::/" });
  expect(none.state).toMatchObject({ is: "none", why: expect.stringContaining("cannot write /proc") as string });
  expect(none.make("ma-1", "x")).toBeNull();
});
