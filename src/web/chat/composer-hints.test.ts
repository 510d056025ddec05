import { expect, test } from "vitest";
import { asPromptId } from "../../contract/ids.ts";
import type { PromptItem } from "../../contract/transcript.ts";
import type { SessionJson } from "../../contract/session.ts";
import { closedReason, splitQueue } from "./composer-hints.ts";

const intent = (want: SessionJson["intent"]["want"]) => ({ intent: { want, by: "person", at: null } });

test("[WEB-71] a read-only daemon and a killed session close the composer, a stopped session does not", () => {
  expect(closedReason(intent("running"), true, true)).toMatch(/read-only/);
  expect(closedReason(intent("killed"), false, true)).toMatch(/Restore/);
  expect(closedReason(intent("stopped"), false, true)).toBeNull();
});

test("[DEVICE-9] the composer shows that a device may only watch", () => {
  expect(closedReason(intent("running"), false, false)).toMatch(/may only watch/);
});

test("[WEB-61] a prompt sent immediately is shown in the transcript, a waiting one in the queue", () => {
  const prompt = { promptId: asPromptId("p"), reason: null } as PromptItem;
  const closed = { turn: null };
  const open = { turn: { open: true, promptId: null, startedAt: 0, cancelling: false, answerMayBeLost: false } };
  expect(splitQueue({ queue: [prompt], ...closed }, { status: "idle" })).toEqual({ next: prompt, queue: [] });
  expect(splitQueue({ queue: [prompt], ...open }, { status: "working" })).toEqual({ next: null, queue: [prompt] });
  expect(splitQueue({ queue: [prompt], ...closed }, { status: "stopped" }).next).toBeNull();
  expect(splitQueue({ queue: [{ ...prompt, reason: "died" }], ...closed }, { status: "idle" }).next).toBeNull();
});
