import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoldfastError } from "../contract/errors.ts";
import { openAccess, type Access } from "./access.ts";
import { memorySettings, openTestApi, temporaryDirectory } from "./api.fixture.ts";
import { assertMayListen } from "./hosts.ts";
import { enrolled, from, TestDevice } from "./device.fixture.ts";

const page = "http://127.0.0.1:4710";
const minute = 60_000;
const day = 24 * 60 * minute;
let directory: string;
let settings: ReturnType<typeof memorySettings>;
let now: number;
const opened: Access[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
  settings = memorySettings();
  now = 1_700_000_000_000;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((access) => access.settled()));
  rmSync(directory, { recursive: true, force: true });
});

const tokenFile = (): string => join(directory, "token");
const passphraseFile = (): string => join(directory, "passphrase");
function open(mode: "token" | "passphrase" = "token"): Access {
  const access = openAccess({
    tokenFile: tokenFile(),
    passphraseFile: passphraseFile(),
    mode,
    settings,
    now: () => now,
    // Tests that guess a lot need not pay the real cost.
    iterations: 2,
  });
  opened.push(access);
  return access;
}
async function outcome(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => "in",
    (error: unknown) => (error instanceof HoldfastError ? error.message : error),
  );
}

describe("the main token", () => {
  test("[API-24] is made once, 0600, and stays", () => {
    open();
    const token = readFileSync(tokenFile(), "utf8").trim();
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    expect(open().check(token)).toEqual({ bearer: "main" });
    expect(open().check(`${token}x`)).toBeNull();
    expect(readFileSync(tokenFile(), "utf8").trim()).toBe(token);
  });

  test("[API-24] a file that others may read is closed again", () => {
    open();
    chmodSync(tokenFile(), 0o644);
    open();
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
  });

  test("[API-24] a half-written file is replaced, and an empty token lets nobody in", () => {
    writeFileSync(tokenFile(), "");
    const access = open();
    expect(access.check("")).toBeNull();
    expect(access.check(readFileSync(tokenFile(), "utf8").trim())).toEqual({ bearer: "main" });
  });
});

const codeOf = (access: Access, asked: Parameters<Access["issueLink"]>[1] = {}): string =>
  access.issueLink(page, asked).url.split("#login=")[1]!;
const byCode = (access: Access, code: string, device = new TestDevice(page)) =>
  access.login(device.byCode(code, access.challenge().nonce), from(page));
const guess = (access: Access, words: string, device = new TestDevice(page)) => {
  const { nonce, passphrase } = access.challenge();
  return access.login(device.byPassphrase(words, passphrase ?? { salt: "", iterations: 1 }, nonce), from(page));
};
const isIn = (access: Access, device: TestDevice): boolean => {
  device.nonce = access.challenge().nonce;
  try {
    access.checkDevice(device.proof("GET", "/api/info"), { method: "GET", path: "/api/info" }, from(page));
    return true;
  } catch (error) {
    if (error instanceof HoldfastError) return false;
    throw error;
  }
};

describe("the main token, replaced", () => {
  test("[DEVICE-13] works at once and for later starts; the old one does not, and devices stay", async () => {
    const access = open();
    const old = readFileSync(tokenFile(), "utf8").trim();
    const device = await enrolled(access, page);
    expect(access.rotateToken()).toBe(tokenFile());
    const fresh = readFileSync(tokenFile(), "utf8").trim();
    expect(fresh).not.toBe(old);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    for (const each of [access, open()]) {
      expect(each.check(old)).toBeNull();
      expect(each.check(fresh)).toEqual({ bearer: "main" });
    }
    expect(isIn(access, device)).toBe(true);
  });
});

describe("login links", () => {
  test("[API-25, DEVICE-5] a code works once, and who comes second learns who came first", async () => {
    const access = open();
    const code = codeOf(access);
    const device = new TestDevice(page);
    expect((await byCode(access, code, device)).device).toMatchObject({ id: device.id, name: "Chrome on Linux" });
    expect(isIn(access, device)).toBe(true);
    expect(await outcome(byCode(access, code))).toBe(
      `This login link was used already: ${new Date(now).toISOString()}, by Chrome on Linux from 127.0.0.1.`,
    );
    // Who does not have the secret learns nothing of it.
    expect(await outcome(byCode(access, `${code.split(".")[0]}.wrong`))).toContain("is not valid");
  });

  test("[API-25] of two that use a code at once, one gets in", async () => {
    const access = open();
    const code = codeOf(access);
    const both = await Promise.all([outcome(byCode(access, code)), outcome(byCode(access, code))]);
    expect(both.filter((each) => each === "in")).toHaveLength(1);
    expect(both.find((each) => each !== "in")).toContain("was used already");
  });

  test("[DEVICE-5] a code lives a minute, for another device ten, and not over a restart", async () => {
    const access = open();
    const [here, pair] = [codeOf(access), codeOf(access, { for: "pair" })];
    now += minute;
    expect(await outcome(byCode(access, here))).toBe("This login link has expired.");
    now += 8 * minute;
    expect(await outcome(byCode(access, pair))).toBe("in");
    const late = codeOf(access, { for: "pair" });
    now += 10 * minute;
    expect(await outcome(byCode(access, late))).toBe("This login link has expired.");
    const fresh = codeOf(access);
    expect(await outcome(byCode(open(), fresh))).toContain("is not valid");
    expect(await outcome(byCode(access, fresh))).toBe("in");
  });

  test("[DEVICE-5] a proof that was made for another page, key or challenge uses no code up", async () => {
    const access = open();
    const code = codeOf(access);
    const device = new TestDevice(page);
    const { nonce } = access.challenge();
    const proof = device.byCode(code, nonce);
    const other = new TestDevice(page);
    expect(await outcome(access.login({ ...proof, publicKey: other.publicKey }, from(page)))).toContain("not valid");
    expect(await outcome(access.login(proof, from("http://127.0.0.1:4711")))).toContain("not valid");
    expect(await outcome(access.login(device.byCode(code, "x".repeat(43)), from(page)))).toContain("has expired");
    expect(await outcome(access.login(proof, { ...from(page), origin: undefined }))).toContain(
      "needs the header Origin",
    );
    expect(await outcome(access.login(proof, from(page)))).toBe("in");
    // What was seen of it enrolls nobody again, not even after a revocation.
    await access.revoke(device.id);
    expect(await outcome(access.login(proof, from(page)))).toContain("was used already");
  });

  test("[DEVICE-14] a link can stand in a file, 0600, that goes when it is used or expires", async () => {
    const access = open();
    const made = access.issueLink(page, { file: true });
    const path = new URL(made.file!).pathname;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toContain(`content="0; url=${made.url}"`);
    await byCode(access, made.url.split("#login=")[1]!);
    expect(existsSync(path)).toBe(false);
    const unused = new URL(access.issueLink(page, { file: true }).file!).pathname;
    now += minute;
    access.issueLink(page, {});
    expect(existsSync(unused)).toBe(false);
    const left = new URL(access.issueLink(page, { file: true }).file!).pathname;
    await access.settled();
    expect(existsSync(left)).toBe(false);
  });

  test("[API-25] the link comes over the socket only, its code behind the #", async () => {
    const it = await openTestApi();
    try {
      const link = await it.unix("POST", "/api/login-link", { json: {} });
      expect(String(link.json["url"]).startsWith(`${it.url}/#login=`)).toBe(true);
      expect((await it.tcp("POST", "/api/login-link", { json: {} })).status).toBe(404);
    } finally {
      await it.close();
    }
  });
});

describe("devices", () => {
  test("[API-26, DEVICE-1] survive a restart; nothing that is kept lets anybody in", async () => {
    settings.values.set("access.browserTokens", '[{"hash":"x","createdAt":0,"lastUsedAt":0}]');
    const device = await enrolled(open(), page);
    expect(isIn(open(), device)).toBe(true);
    const kept = JSON.parse(settings.values.get("access.devices")!) as Record<string, unknown>[];
    expect(Object.keys(kept[0]!).toSorted()).toEqual(
      ["id", "publicKey", "origin", "name", "rights", "createdAt", "lastSeenAt", "lastAddress"].toSorted(),
    );
    // Tokens of the build before are void.
    expect(settings.values.has("access.browserTokens")).toBe(false);
  });

  test("[API-26] are logged out after 30 days without use, and each use counts", async () => {
    const used = await enrolled(open(), page);
    const unused = await enrolled(open(), page);
    now += 20 * day;
    const access = open();
    expect(isIn(access, used)).toBe(true);
    await access.settled();
    now += 20 * day;
    expect(isIn(open(), used)).toBe(true);
    expect(isIn(open(), unused)).toBe(false);
  });

  test("[API-26, DEVICE-10] can be revoked, one or all, for good, and pending links with them", async () => {
    const access = open();
    const [one, two] = [await enrolled(access, page), await enrolled(access, page)];
    expect((await access.revoke(one.id))?.id).toBe(one.id);
    expect([isIn(access, one), isIn(access, two)]).toEqual([false, true]);
    const pending = codeOf(access, { for: "pair" });
    expect(await access.revokeAll()).toHaveLength(1);
    expect(isIn(open(), two)).toBe(false);
    expect(await outcome(byCode(access, pending))).toContain("is not valid");
  });

  test("[DEVICE-10] a browser that logs in again stays one device, with the rights of its last link", async () => {
    const access = open();
    const device = await enrolled(access, page, "watch");
    await access.devices.edit(device.id, { name: "  My\nphone\u202e " });
    expect(access.devices.list()).toMatchObject([{ name: "My phone", rights: "watch" }]);
    const again = await byCode(access, codeOf(access, { rights: "all", name: "Other" }), device);
    expect(again).toMatchObject({ isNew: false, device: { name: "My phone", rights: "all" } });
    expect(access.devices.list()).toHaveLength(1);
  });

  test("[DEVICE-1] a key that is no point on the curve is refused", async () => {
    const access = open();
    const device = new TestDevice(page);
    const off = Buffer.from(device.publicKey, "base64url");
    off[64]! ^= 1;
    Object.assign(device, { publicKey: off.toString("base64url") });
    expect(await outcome(byCode(access, codeOf(access), device))).toContain("point on P-256");
    expect(access.devices.list()).toEqual([]);
  });
});

describe("the passphrase", () => {
  test("[API-27, DEVICE-6] is proved without being sent; its file then holds a verifier only, 0600", async () => {
    writeFileSync(passphraseFile(), "correct hor\u0073e caf\u00e9\n", { mode: 0o644 });
    const access = open("passphrase");
    expect(access.hasPassphrase).toBe(true);
    // Typed with a combining accent.
    expect(await outcome(guess(access, "correct horse cafe\u0301"))).toBe("in");
    await access.settled();
    const verifier = readFileSync(passphraseFile(), "utf8");
    expect(verifier).toMatch(/^holdfast-pbkdf2-v1:/);
    expect(statSync(passphraseFile()).mode & 0o777).toBe(0o600);
    expect(await outcome(guess(open("passphrase"), "correct horse café"))).toBe("in");
    expect(await outcome(guess(open("passphrase"), "wrong"))).toBe("Wrong passphrase.");
    // What the file holds is no proof: it is the hash of what would be needed.
    const stolen = Buffer.from(verifier.trim().split(":")[3]!, "base64url");
    const device = new TestDevice(page);
    const { nonce } = access.challenge();
    const asIfKey = {
      ...device.byPassphrase("x", access.challenge().passphrase!, nonce),
      proof: stolen.toString("base64url"),
    };
    expect(await outcome(access.login(asIfKey, from(page)))).toBe("Wrong passphrase.");
  });

  test("[DEVICE-6] a proof holds for one page and one challenge, once", async () => {
    writeFileSync(passphraseFile(), "right\n");
    const access = open("passphrase");
    const { nonce, passphrase } = access.challenge();
    const device = new TestDevice(page);
    const proof = device.byPassphrase("right", passphrase!, nonce);
    expect(await outcome(access.login(proof, from("http://localhost:4710")))).toBe("Wrong passphrase.");
    const other = access.challenge().nonce;
    expect(await outcome(access.login({ ...proof, nonce: other }, from(page)))).toBe("Wrong passphrase.");
    expect(await outcome(access.login(proof, from(page)))).toBe("in");
    await access.revoke(device.id);
    expect(await outcome(access.login(proof, from(page)))).toBe("This login was sent before.");
  });

  test("[DEVICE-6] one that an earlier version hashed has to be set again; links work meanwhile", async () => {
    writeFileSync(passphraseFile(), `holdfast-scrypt-v1:32768:8:1:${"a".repeat(22)}:${"b".repeat(43)}\n`);
    const access = open("passphrase");
    expect(access.hasPassphrase).toBe(true);
    expect(access.challenge().passphrase).toMatchObject({ salt: null });
    expect(await outcome(guess(access, "x"))).toContain("must be set again");
    expect(await outcome(byCode(access, codeOf(access)))).toBe("in");
    expect(readFileSync(passphraseFile(), "utf8")).toContain("scrypt");
  });

  test("[API-27] a file that is removed or changed while its verifier is computed stays so", async () => {
    writeFileSync(passphraseFile(), "first\n");
    const removed = open("passphrase");
    rmSync(passphraseFile());
    await removed.settled();
    expect(existsSync(passphraseFile())).toBe(false);
    writeFileSync(passphraseFile(), "second\n");
    const changed = open("passphrase");
    writeFileSync(passphraseFile(), "third\n");
    await changed.settled();
    expect(readFileSync(passphraseFile(), "utf8")).toBe("third\n");
  });

  test("[API-27] guesses in parallel get no more than five tries", async () => {
    writeFileSync(passphraseFile(), "right\n");
    const access = open("passphrase");
    const all = await Promise.all(Array.from({ length: 8 }, () => outcome(guess(access, "wrong"))));
    expect(all.filter((each) => each === "Wrong passphrase.")).toHaveLength(5);
  });

  test("[API-27] is refused where login links are used", async () => {
    expect(open().challenge().passphrase).toBeNull();
    expect(await outcome(guess(open(), "x"))).toBe("This daemon accepts login links, not a passphrase.");
  });
});

describe("beyond loopback", () => {
  test("[API-28] needs passphrase mode and a passphrase", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) assertMayListen(host, "token", false);
    const others = ["0.0.0.0", "::", "192.168.1.5", "example.test", "127.0.0.1.example.test", "localhost.example.test"];
    for (const host of others) {
      expect(() => assertMayListen(host, "token", true)).toThrow(
        `Refusing to listen on ${host} without a passphrase: others could reach it.`,
      );
      expect(() => assertMayListen(host, "passphrase", false)).toThrow(
        `Refusing to listen on ${host}: no passphrase is set.`,
      );
      assertMayListen(host, "passphrase", true);
    }
  });

  test("[API-28] is refused by the server itself, whoever calls it", async () => {
    const it = await openTestApi();
    try {
      await expect(it.api.listenTcp("0.0.0.0", 0)).rejects.toThrow("Refusing to listen on 0.0.0.0");
      await expect(it.api.listenTcp("", 0)).rejects.toThrow("A host to listen on must be given.");
    } finally {
      await it.close();
    }
  });
});
