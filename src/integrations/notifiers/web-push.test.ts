import { createECDH } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkVapid, openPush, PushService } from "../../../test/push/push-service.ts";
import { until } from "../../../test/harness/until.ts";
import type { Notification } from "../../ports/notify.ts";
import { isPrivate, publicLookup, refuseAddress } from "./web-push-send.ts";
import { encryptFor, maxPlainBytes, authorization, makeVapidKey, publicKeyOf, subjectFor } from "./web-push-crypto.ts";
import { maxBrowsers, WebPush } from "./web-push.ts";

const from = (text: string): Buffer => Buffer.from(text, "base64url");

/** RFC 8291, section 5 and appendix A. */
const published = {
  plain: "When I grow up, I want to be a watermelon",
  senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  receiverPrivate: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  receiverPublic: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  message:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

test("[NOTIFY-5] a message is encrypted as the RFC's own example, and the browser alone reads it", () => {
  const keys = { p256dh: published.receiverPublic, auth: published.auth };
  const fixed = { privateKey: from(published.senderPrivate), salt: from(published.salt) };
  expect(encryptFor(keys, Buffer.from(published.plain), fixed).toString("base64url")).toBe(published.message);

  const browser = createECDH("prime256v1");
  browser.setPrivateKey(from(published.receiverPrivate));
  const [one, other] = [encryptFor(keys, Buffer.from("hello")), encryptFor(keys, Buffer.from("hello"))];
  expect(openPush(one, browser, from(published.auth)).toString()).toBe("hello");
  expect(one.equals(other)).toBe(false);
  const largest = encryptFor(keys, Buffer.alloc(maxPlainBytes, "x"));
  expect(largest).toHaveLength(4096);
  expect(openPush(largest, browser, from(published.auth))).toHaveLength(maxPlainBytes);
  expect(() => encryptFor(keys, Buffer.alloc(maxPlainBytes + 1))).toThrow(RangeError);
  const flipped = Buffer.from(published.receiverPublic, "base64url");
  flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20);
  expect(() => encryptFor({ ...keys, p256dh: flipped.toString("base64url") }, Buffer.alloc(1))).toThrow(/key/i);
});

test("[NOTIFY-5] the sender's token is for one push service, half a day, and verifies with the public key", () => {
  const key = makeVapidKey();
  const now = 1_700_000_000_000;
  const header = authorization(
    key,
    { endpoint: "https://push.example.net/a/b?c", subject: "mailto:a@example.net" },
    now,
  );
  expect(checkVapid(header, publicKeyOf(key))).toEqual({
    aud: "https://push.example.net",
    exp: now / 1000 + 12 * 3600,
    sub: "mailto:a@example.net",
  });
  expect(() => checkVapid(header.replace(/\.(.)/, ".A$1"), publicKeyOf(key))).toThrow("signature");
  expect(subjectFor("https://box.example.net")).toBe("https://box.example.net");
  for (const origin of [undefined, "http://127.0.0.1:4500", "https://localhost", "https://box.local", "nonsense"]) {
    expect(subjectFor(origin)).toBe("mailto:holdfast@localhost");
  }
});

test("[NOTIFY-7] only public places are asked, whatever a name resolves to", async () => {
  for (const address of [
    "https://127.0.0.1/x",
    "https://10.1.2.3/x",
    "https://169.254.169.254/latest",
    "https://[::1]/x",
    "https://[::ffff:192.168.0.1]/x",
    "https://[fd00::1]/x",
    "https://0x7f.1/x",
    "https://localhost/x",
    "https://a.localhost./x",
    "https://me:you@push.example.net/x",
    "http://push.example.net/x",
    "http://127.0.0.1:80/x",
    "file:///etc/passwd",
    "nonsense",
    `https://push.example.net/${"x".repeat(2048)}`,
  ]) {
    expect([address, refuseAddress(address, false)]).toEqual([address, expect.any(String)]);
  }
  expect(refuseAddress("https://push.example.net/x", false)).toBeNull();
  expect(refuseAddress("https://93.184.215.14/x", false)).toBeNull();
  expect(refuseAddress("http://127.0.0.1:80/x", true)).toBeNull();
  expect(refuseAddress("http://127.0.0.2:80/x", true)).not.toBeNull();
  expect(["100.64.0.1", "224.0.0.1", "255.255.255.255", "::", "fe80::1", "::ffff:10.0.0.1"].every(isPrivate)).toBe(
    true,
  );
  // Ways into a private network by way of IPv6: NAT64, 6to4, Teredo.
  expect(["64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::1"].every(isPrivate)).toBe(true);
  expect(["8.8.8.8", "172.32.0.1", "2001:4860:4860::8888", "::ffff:8.8.8.8"].some(isPrivate)).toBe(false);
  for (const all of [true, false]) {
    const error = await new Promise((resolve) => publicLookup("localhost", { all }, resolve));
    expect(String(error)).toContain("private address");
  }
});

interface World {
  file: string;
  now: { value: number };
  logged: string[];
  hidden: string[];
  open: () => WebPush;
}

function world(): World {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-push-"));
  const now = { value: 1_700_000_000_000 };
  const logged: string[] = [];
  const hidden: string[] = [];
  const write = (message: string, fields?: object): void => void logged.push(JSON.stringify([message, fields]));
  const log = { debug: write, info: write, warn: write, error: write };
  const file = join(directory, "push.json");
  const opened: WebPush[] = [];
  onTestFinished(() => {
    for (const one of opened) one.close();
    rmSync(directory, { recursive: true });
  });
  const open = (): WebPush => {
    const hide = (secret: string): void => void hidden.push(secret);
    const made = new WebPush({ file, now: () => now.value, log, hide, loopback: true });
    opened.push(made);
    return made;
  };
  return { file, now, logged, hidden, open };
}

async function serve(): Promise<PushService> {
  const service = await PushService.open();
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

function note(id: string, at: number, session = "ma-1"): Notification {
  return { id, at, session, title: `${session}: needs you`, text: "It asks.", project: "my-app", why: "It asks." };
}

test("[NOTIFY-6] key and subscriptions are in one private file, bounded, and a damaged one is nothing", async () => {
  const service = await serve();
  const { file, open, logged, hidden } = world();
  const first = open();
  const key = first.publicKey();
  expect(from(key)).toHaveLength(65);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const browser = service.browser("a");
  const made = first.subscribe(browser.subscription("Fire\nfox \u202e on Linux"));
  expect(made).toMatchObject({ label: "Fire fox on Linux", service: "127.0.0.1", failure: null });
  // The same browser again is the same subscription.
  expect(first.subscribe(browser.subscription()).id).toBe(made.id);
  expect(JSON.stringify([first.browsers(), logged])).not.toContain(browser.path);
  expect(hidden).toContain(browser.subscription().endpoint);

  const second = open();
  expect(second.publicKey()).toBe(key);
  expect(second.browsers()).toHaveLength(1);
  for (let index = 1; index < maxBrowsers; index++) second.subscribe(service.browser(`b${index}`).subscription());
  expect(() => second.subscribe(service.browser("more").subscription())).toThrow("are already subscribed");
  expect(second.remove(made.id)).toBe(true);
  expect(second.remove(made.id)).toBe(false);
  second.remove(second.browsers()[0]!.id);
  const lost = second.subscribe({ ...service.browser("lost").subscription(), device: "d1" });
  second.subscribe({ ...service.browser("kept").subscription(), device: "d2" });
  second.removeOf(["d1", "d9"]);
  expect(second.browsers().some(({ id }) => id === lost.id)).toBe(false);
  expect(
    open()
      .browsers()
      .filter(({ device }) => device === "d2"),
  ).toHaveLength(1);
  second.removeOf(null);
  expect(open().browsers()).toEqual([]);
  expect(open().publicKey()).toBe(key);

  const bad = { ...browser.subscription(), keys: { p256dh: "AAAA", auth: "AAAA" } };
  expect(() => second.subscribe(bad)).toThrow("keys are invalid");
  expect(() => second.subscribe({ ...browser.subscription(), endpoint: "https://10.0.0.1/x" })).toThrow(
    "public address",
  );
  writeFileSync(file, readFileSync(file, "utf8").slice(0, 40));
  const after = open();
  expect(after.browsers()).toEqual([]);
  expect(after.publicKey()).not.toBe(key);
  expect(logged.join()).toContain("must subscribe again");
});

test("[NOTIFY-9] a push says title, session and reason; it waits an hour at most, and a newer one of the session replaces it", async () => {
  const service = await serve();
  const { open, now } = world();
  const push = open();
  const browser = service.browser("a");
  push.subscribe({ ...browser.subscription(), origin: "https://box.example.net" });
  await push.send(note("n1", now.value));
  await push.send({ ...note("n2", now.value), text: "y".repeat(5000) });
  await push.send(note("n3", now.value, "ma-2"));
  expect(browser.read()).toEqual([
    { title: "ma-1: needs you", text: "It asks.", session: "ma-1" },
    { title: "ma-1: needs you", text: `${"y".repeat(299)}…`, session: "ma-1" },
    { title: "ma-2: needs you", text: "It asks.", session: "ma-2" },
  ]);
  const heads = browser.received().map(({ headers }) => headers);
  expect(heads[0]).toMatchObject({ ttl: "3600", urgency: "high", "content-encoding": "aes128gcm" });
  const topics = heads.map((head) => String(head["topic"]));
  expect(topics[0]).toMatch(/^[\w-]{32}$/);
  expect([topics[1] === topics[0], topics[2] === topics[0]]).toEqual([true, false]);
  expect(topics.join()).not.toContain("ma-1");
  const claims = checkVapid(heads[0]?.authorization, push.publicKey());
  expect(claims).toMatchObject({ aud: service.origin, sub: "https://box.example.net" });
});

test.each([404, 410])(
  "[NOTIFY-10] a browser whose push service answers %i is forgotten, and the others are told",
  async (status) => {
    const service = await serve();
    const { open, now } = world();
    const push = open();
    const [gone, there] = [service.browser("gone"), service.browser("there")];
    push.subscribe(gone.subscription("Old phone"));
    push.subscribe(there.subscription());
    service.answer = (path) => ({ status: path === gone.path ? status : 201 });
    await push.send(note("n1", now.value));
    expect(push.browsers().map(({ label }) => label)).toEqual(["Test browser"]);
    expect(push.ended()).toEqual([{ label: "Old phone", at: now.value }]);
    expect(open().browsers()).toHaveLength(1);
    await push.send(note("n2", now.value));
    expect([gone.received().length, there.received().length]).toEqual([1, 2]);
  },
);

test("[NOTIFY-11] a push service that asks for rest has it; then it gets the newest of each session, and the others never waited", async () => {
  const service = await serve();
  const { open, now, logged } = world();
  const push = open();
  const [busy, there] = [service.browser("busy"), service.browser("there")];
  push.subscribe(busy.subscription("Busy"));
  push.subscribe(there.subscription());
  service.answer = (path) => (path === busy.path ? { status: 429, headers: { "retry-after": "1" } } : { status: 201 });
  const failure = /^Busy: the push service returned status 429/;
  await expect(push.send(note("n1", now.value))).rejects.toThrow(failure);
  // Told again, as a channel that failed is: nobody gets it twice, and who rests is not asked.
  await expect(push.send(note("n1", now.value))).rejects.toThrow(failure);
  await expect(push.send(note("old", now.value - 3_600_001, "ma-3"))).rejects.toThrow(failure);
  await expect(push.send(note("n2", now.value))).rejects.toThrow("retrying after");
  await expect(push.send(note("n3", now.value, "ma-2"))).rejects.toThrow(failure);
  expect([busy.received().length, there.received().length]).toEqual([1, 4]);
  expect(push.browsers()[0]?.failure).toEqual({ why: "the push service returned status 429", at: now.value });
  expect(await push.test(push.browsers()[0]!.id)).toContain("retrying after");

  service.answer = () => ({ status: 201 });
  now.value += 1_001;
  await until("what waited to be told", () => busy.received().length === 3);
  expect(busy.read().slice(1)).toMatchObject([{ session: "ma-1" }, { session: "ma-2" }]);
  await until("that it is well again", () => push.browsers()[0]?.failure === null);
  expect(logged.join()).not.toContain(busy.path);
});

test("[NOTIFY-11] each failure without a word rests longer; one that is refused is not asked again by itself", async () => {
  const service = await serve();
  const { open, now } = world();
  const push = open();
  const browser = service.browser("a");
  const { id } = push.subscribe(browser.subscription());
  service.answer = () => ({ status: 503 });
  const rests: number[] = [];
  for (let index = 0; index < 8; index++) {
    await push.test(id);
    const until = /after (\S+)$/.exec((await push.test(id)) ?? "")?.[1] ?? "";
    rests.push((Date.parse(until) - now.value) / 1000);
    now.value = Date.parse(until);
  }
  expect(rests).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
  service.answer = () => ({ status: 403 });
  expect(await push.test(id)).toBe("the push service returned status 403");
  service.answer = () => ({ status: 201 });
  expect(await push.test(id)).toBeNull();
  expect(browser.read().at(-1)).toMatchObject({ title: "Holdfast", test: true });
});

test("[NOTIFY-7] no redirect is followed", async () => {
  const service = await serve();
  const push = world().open();
  const browser = service.browser("a");
  const { id } = push.subscribe(browser.subscription());
  service.answer = () => ({ status: 307, headers: { location: `${service.origin}/elsewhere` } });
  expect(await push.test(id)).toBe("the push service returned status 307");
  expect(service.received).toHaveLength(1);
});
