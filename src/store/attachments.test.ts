import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { JudgeVerb } from "../ports/store.ts";
import type { Attachment } from "../contract/event.ts";
import { asPromptId, asSessionId } from "../contract/ids.ts";
import { created, errorOf, intent, makeHome } from "./store.fixture.ts";

const id = asSessionId("ma-1");
const promptId = asPromptId("p");
const named = (bytes: Buffer): Attachment => ({
  type: "image",
  name: "i",
  mimeType: "image/png",
  size: bytes.length,
  digest: hash("sha256", bytes, "hex"),
});
const admit =
  (...bytes: Buffer[]): JudgeVerb =>
  ({ seq }) => ({
    seq,
    events: [{ type: "prompt.admitted", promptId, text: "t", by: "person", attachments: bytes.map(named) }],
  });

test("[CHAT-133] attachments are stored with their prompt, once, and go with their session", async () => {
  const home = makeHome();
  const store = home.open();
  await store.create(created("ma-1"));
  const [one, two] = [Buffer.from("one"), Buffer.from("two")];
  for (let time = 0; time < 2; time++) await store.applyVerb(id, admit(one, two), [one, two]);
  expect(await errorOf(store.applyVerb(id, admit(one), [one]))).toMatchObject({ code: "conflict" });
  expect(await errorOf(store.applyVerb(id, admit(two, one), [two, one]))).toMatchObject({ code: "conflict" });
  store.close();
  const again = home.open();
  expect(Buffer.from(again.attachment(id, promptId, 1)!)).toEqual(two);
  expect(again.attachment(id, promptId, 2)).toBeNull();
  expect(again.prompt(id, promptId)?.attachments).toEqual([one, two].map(named));
  await again.commit(id, () => [intent("deleted")]);
  await again.purgeDeleted(id);
  const raw = new DatabaseSync(home.options.path);
  expect(raw.prepare("SELECT count(*) AS n FROM prompt_attachments").get()).toEqual({ n: 0 });
  raw.close();
});

test("[CHAT-133] bytes that are not those that were stored are never handed on", async () => {
  const home = makeHome();
  const store = home.open();
  await store.create(created("ma-1"));
  await store.applyVerb(id, admit(Buffer.from("one")), [Buffer.from("one")]);
  const raw = new DatabaseSync(home.options.path);
  raw.exec("UPDATE prompt_attachments SET bytes = x'00'");
  raw.close();
  expect(await errorOf(() => store.attachment(id, promptId, 0))).toMatchObject({ code: "storage" });
});
