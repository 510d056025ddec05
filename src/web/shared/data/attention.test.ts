import { expect, test } from "vitest";
import type { SessionJson } from "../../../contract/session.ts";
import { alertsFor, notificationAlerts } from "./attention.ts";

const session = (over: Partial<SessionJson>): SessionJson =>
  ({ id: "ma-1", title: "Fix it", status: "idle", reason: null, permissions: [], seq: 7, ...over }) as SessionJson;
const texts = (before: Partial<SessionJson> | undefined, after: Partial<SessionJson>): string[] =>
  alertsFor([{ before: before && session(before), after: session(after) }]).map(({ text }) => text);
const ask = (requestId: string) => ({ requestId, title: `run ${requestId}`, options: [] });

test("[WEB-21] only a permission request, a failure and the end of a turn alert the user", () => {
  expect(texts({ status: "working" }, { status: "needs_input", permissions: [ask("a")] })).toEqual(["Asks: run a"]);
  expect(texts({ status: "working" }, { status: "needs_input", reason: "It asks." })).toEqual(["It asks."]);
  expect(texts({ status: "working" }, { status: "failed", reason: "It crashed." })).toEqual(["Failed: It crashed."]);
  expect(texts({ status: "working" }, { status: "idle" })).toEqual(["Finished its turn."]);
  // A failed turn is the daemon's notification, so that it calls once.
  expect(texts({ status: "working" }, { status: "idle", reason: "its last turn failed", needsYou: true })).toEqual([]);
  expect(texts({ status: "working" }, { status: "pr_open" })).toEqual(["Finished its turn."]);

  expect(texts(undefined, { status: "starting" })).toEqual([]);
  expect(texts({ status: "starting" }, { status: "idle" })).toEqual([]);
  expect(texts({ status: "working" }, { status: "working" })).toEqual([]);
  expect(texts({ status: "working" }, { status: "killed" })).toEqual([]);
  expect(texts({ status: "idle" }, { status: "stopped" })).toEqual([]);
});

test("[WEB-21] each permission request alerts once", () => {
  const one: Partial<SessionJson> = { status: "needs_input", permissions: [ask("a")] };
  expect(texts(one, { ...one, lastLine: "more words" })).toEqual([]);
  expect(texts(one, { status: "needs_input", permissions: [ask("b")] })).toEqual(["Asks: run b"]);
});

test("[WEB-21] an alert has the same tag in every tab", () => {
  const change = { before: session({ status: "working" }), after: session({ status: "idle", seq: 9 }) };
  expect(alertsFor([change])[0]!.tag).toBe(alertsFor([change])[0]!.tag);
  expect(alertsFor([change])[0]!.tag).toContain("ma-1:9");
});

test("[WEB-28] the daemon's notifications alert, unless the status already does", () => {
  const note = {
    seq: 3,
    at: "",
    type: "notification",
    session: "ma-1",
    id: "ma-1-x",
    title: "ma-1: ended",
    text: "It ended.",
  };
  const events = [note, { ...note, seq: 4, type: "notification.sent" }] as unknown as Parameters<
    typeof notificationAlerts
  >[0];
  expect(notificationAlerts(events, () => "exited")).toEqual([
    { session: "ma-1", title: "ma-1: ended", text: "It ended.", tag: "holdfast:ma-1-x" },
  ]);
  expect(notificationAlerts(events, () => "needs_input")).toEqual([]);
  expect(notificationAlerts(events, () => "failed")).toEqual([]);
  expect(notificationAlerts(events, () => undefined)).toEqual([]);
});
