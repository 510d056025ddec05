import { describe, expect, test } from "vitest";
import type { StoredEvent } from "../contract/event.ts";
import { asLaunchId } from "../contract/ids.ts";
import { requestName } from "../contract/permission-request.ts";
import type { PermissionRequest, SessionState } from "../model/session.ts";
import { findPermissionRequest, listedRequests, permissionRequestJson } from "./permission-requests.ts";

const options = [{ optionId: "n", name: "Reject", kind: "allow_always" }];
const tool = (seq: number, toolCallId: string, fields: object): StoredEvent => ({
  seq,
  at: 0,
  type: "tool.updated",
  toolCallId,
  ...fields,
});
const events = [
  tool(1, "t", { kind: "execute", rawInput: { cwd: "/p" } }),
  tool(2, "other", { rawInput: { command: "rm -rf ~" } }),
  tool(3, "t", { rawInput: { command: "ls" } }),
  tool(9, "t", { rawInput: { command: "changed after it was asked" } }),
];
const store = {
  someEvents: (_: unknown, { before = Infinity }: { before?: number }) => events.filter(({ seq }) => seq < before),
};
const launch = asLaunchId("l-1");
const asked: PermissionRequest = {
  requestId: "q4",
  title: "List",
  options,
  asker: { launch, id: 1 },
  toolCallId: "t",
  seq: 4,
};
const old: PermissionRequest = { requestId: `${launch}:"$(id)"`, title: "Old", options };
const session = (...permissions: PermissionRequest[]) =>
  ({ id: "ma-1", seq: 9, permissions }) as unknown as SessionState;

describe("[TEXT-4] an open question", () => {
  test("is the call as it was when the agent asked, not as it became since", () => {
    expect(permissionRequestJson(store, session(asked), asked)).toMatchObject({
      id: "q4",
      kind: "execute",
      command: "ls",
      title: "List",
      options,
    });
  });

  test("has its command in the list of sessions, cut with a count where it is long", () => {
    const long = { ...asked, toolCallId: "long" };
    events.push(tool(3, "long", { rawInput: { command: "x".repeat(20_000) } }));
    expect(listedRequests(store, session(asked))).toMatchObject([{ requestId: "q4", command: "ls", more: false }]);
    const [listed] = listedRequests(store, session(long));
    expect(listed?.command).toMatch(/^x+… \(4,000 more characters\)$/);
    expect(listed?.more).toBe(true);
  });
});

describe("[TEXT-2] [TEXT-5] the question that a name means", () => {
  test("of an earlier build is found by the name that is shown, and by the one it was stored under", () => {
    const [listed] = listedRequests(store, session(old));
    expect(listed?.requestId).toBe(requestName(old.requestId));
    expect(findPermissionRequest(session(old, asked), listed?.requestId)).toBe(old);
    expect(findPermissionRequest(session(old, asked), old.requestId)).toBe(old);
  });

  test("is left out only where one is open", () => {
    expect(findPermissionRequest(session(), undefined)).toBeNull();
    expect(findPermissionRequest(session(asked), undefined)).toBe(asked);
    expect(findPermissionRequest(session(asked), "q5")).toBeNull();
    expect(() => findPermissionRequest(session(asked, old), undefined)).toThrow("2 open permission requests");
  });
});
