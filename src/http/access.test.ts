import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoldfastError } from "../protocol/error.ts";
import { openAccess, type Access } from "./access.ts";
import { memorySettings, openTestApi, temporaryDirectory } from "./api.fixture.ts";
import { assertMayListen } from "./hosts.ts";
import { hashPassphrase } from "./passphrase.ts";

/** The cost stands in the hash: tests that guess a lot need not pay the real one. */
const cheap = { N: 2, r: 1, p: 1 };
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
  test("[AUTH-1] is made once, 0600, and stays", () => {
    open();
    const token = readFileSync(tokenFile(), "utf8").trim();
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
    expect(open().check(token)).toEqual({ bearer: "main" });
    expect(open().check(`${token}x`)).toBeNull();
    expect(readFileSync(tokenFile(), "utf8").trim()).toBe(token);
  });

  test("[AUTH-1] a file that others may read is closed again", () => {
    open();
    chmodSync(tokenFile(), 0o644);
    open();
    expect(statSync(tokenFile()).mode & 0o777).toBe(0o600);
  });

  test("[AUTH-1] a half-written file is replaced, and an empty token lets nobody in", () => {
    writeFileSync(tokenFile(), "");
    const access = open();
    expect(access.check("")).toBeNull();
    expect(access.check(readFileSync(tokenFile(), "utf8").trim())).toEqual({ bearer: "main" });
  });
});

describe("login links", () => {
  test("[AUTH-2] a code works once", async () => {
    const access = open();
    const { code } = access.issueCode();
    const token = await access.login({ code });
    expect(access.check(token)).toMatchObject({ bearer: "browser" });
    expect(await outcome(access.login({ code }))).toBe("This login link was used already or has expired.");
  });

  test("[AUTH-2] of two that use a code at once, one gets in", async () => {
    const access = open();
    const { code } = access.issueCode();
    const both = await Promise.all([outcome(access.login({ code })), outcome(access.login({ code }))]);
    expect(both.sort()).toEqual(["This login link was used already or has expired.", "in"]);
  });

  test("[AUTH-2] a code lives five minutes, and not over a restart", async () => {
    const access = open();
    const early = access.issueCode();
    expect(early.expiresAt).toBe(now + 5 * minute);
    const late = access.issueCode();
    now += 5 * minute;
    expect(await outcome(access.login({ code: late.code }))).toBe("This login link was used already or has expired.");
    const fresh = access.issueCode();
    expect(await outcome(open().login({ code: fresh.code }))).toContain("used already or has expired");
    expect(await outcome(access.login({ code: fresh.code }))).toBe("in");
  });

  test("[AUTH-2] the link comes over the socket only, its code behind the #", async () => {
    const it = await openTestApi();
    try {
      const link = await it.unix("POST", "/api/login-link", { json: {} });
      const url = String(link.json["url"]);
      expect(url.startsWith(`${it.url}/#login=`)).toBe(true);
      const login = { json: { code: url.split("#login=")[1] }, headers: { authorization: undefined } };
      const first = await it.tcp("POST", "/api/login", login);
      const second = await it.tcp("POST", "/api/login", login);
      expect(second.status).toBe(401);
      expect(second.json.error?.message).toBe("This login link was used already or has expired.");
      const authorization = `Bearer ${String(first.json["token"])}`;
      expect((await it.tcp("GET", "/api/info", { headers: { authorization } })).status).toBe(200);
      expect((await it.tcp("POST", "/api/logout", { json: {}, headers: { authorization } })).json).toEqual({
        revoked: 1,
      });
      const after = await it.tcp("GET", "/api/info", { headers: { authorization } });
      expect(after.json.error?.message).toBe("The token is not valid.");
    } finally {
      await it.close();
    }
  });
});

describe("browser tokens", () => {
  const login = (access: Access): Promise<string> => access.login({ code: access.issueCode().code });

  test("[AUTH-3] survive a restart; only their hash is kept", async () => {
    const token = await login(open());
    expect([...settings.values.values()].join("")).not.toContain(token);
    expect(open().check(token)).toMatchObject({ bearer: "browser" });
  });

  test("[AUTH-3] expire after 30 days without use, and each use counts", async () => {
    const used = await login(open());
    const unused = await login(open());
    now += 20 * day;
    const access = open();
    expect(access.check(used)).not.toBeNull();
    await access.settled();
    now += 20 * day;
    expect(open().check(used)).not.toBeNull();
    expect(open().check(unused)).toBeNull();
  });

  test("[AUTH-3] can be revoked, one or all, for good", async () => {
    const access = open();
    const [one, two] = [await login(access), await login(access)];
    const bearer = access.check(one);
    if (bearer?.bearer !== "browser") throw new Error("not a browser's");
    expect(await access.revoke(bearer.id)).toBe(true);
    expect(access.check(one)).toBeNull();
    expect(access.check(two)).not.toBeNull();
    expect(await access.revokeAll()).toBe(1);
    expect(open().check(two)).toBeNull();
  });
});

describe("the passphrase", () => {
  test("[AUTH-4] is taken, and its file then holds a hash only, 0600", async () => {
    writeFileSync(passphraseFile(), "correct horse\n", { mode: 0o644 });
    const access = open("passphrase");
    expect(access.hasPassphrase).toBe(true);
    expect(await outcome(access.login({ passphrase: "correct horse" }))).toBe("in");
    await access.settled();
    expect(readFileSync(passphraseFile(), "utf8")).toMatch(/^holdfast-scrypt-v1:/);
    expect(statSync(passphraseFile()).mode & 0o777).toBe(0o600);
    expect(await outcome(open("passphrase").login({ passphrase: "correct horse" }))).toBe("in");
    expect(await outcome(open("passphrase").login({ passphrase: "wrong" }))).toBe("The passphrase is not right.");
  });

  test("[AUTH-4] a file that is removed or changed while its hash is computed stays so", async () => {
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

  test("[AUTH-4] five failures lock for a minute, doubling up to an hour, and a restart forgives nothing", async () => {
    writeFileSync(passphraseFile(), await hashPassphrase("right", cheap));
    const wrong = (): Promise<unknown> => outcome(open("passphrase").login({ passphrase: "wrong" }));
    for (let attempt = 0; attempt < 5; attempt++) expect(await wrong()).toBe("The passphrase is not right.");
    const locked = await open("passphrase")
      .login({ passphrase: "right" })
      .catch((error: unknown) => error);
    expect(locked).toMatchObject({
      code: "locked-out",
      message: "Too many wrong passphrases. Try again in 60 seconds.",
    });
    now += minute;
    expect(await wrong()).toBe("The passphrase is not right.");
    expect(await wrong()).toBe("Too many wrong passphrases. Try again in 2 minutes.");
    settings.values.set("access.lockout", JSON.stringify({ failures: 30, lockedUntil: now }));
    expect(await wrong()).toBe("The passphrase is not right.");
    expect(await wrong()).toBe("Too many wrong passphrases. Try again in 60 minutes.");
    now -= 10 * day;
    expect(await wrong()).toBe("Too many wrong passphrases. Try again in 60 minutes.");
    now += 10 * day + 60 * minute;
    expect(await outcome(open("passphrase").login({ passphrase: "right" }))).toBe("in");
    expect(await wrong()).toBe("The passphrase is not right.");
  });

  test("[AUTH-4] guesses in parallel get no more than five tries", async () => {
    writeFileSync(passphraseFile(), await hashPassphrase("right", cheap));
    const access = open("passphrase");
    const all = await Promise.all(Array.from({ length: 8 }, () => outcome(access.login({ passphrase: "wrong" }))));
    expect(all.filter((each) => each === "The passphrase is not right.")).toHaveLength(5);
  });

  test("[AUTH-4] is refused where login links are used", async () => {
    expect(await outcome(open().login({ passphrase: "x" }))).toBe("This daemon takes login links, not a passphrase.");
    expect(await outcome(open().login({}))).toBe("Give either a code or the passphrase.");
  });
});

describe("beyond loopback", () => {
  test("[AUTH-5] needs passphrase mode and a passphrase", () => {
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

  test("[AUTH-5] is refused by the server itself, whoever calls it", async () => {
    const it = await openTestApi();
    try {
      await expect(it.api.listenTcp("0.0.0.0", 0)).rejects.toThrow("Refusing to listen on 0.0.0.0");
      await expect(it.api.listenTcp("", 0)).rejects.toThrow("A host to listen on must be given.");
    } finally {
      await it.close();
    }
  });
});
