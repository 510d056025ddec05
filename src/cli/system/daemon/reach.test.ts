import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeCertificate } from "../../../../test/harness/certificate.ts";
import { defaultLaunchOptions, readLaunchOptions } from "../../../base/launch-options.ts";
import { hashForMark, generatePassphrase, weaknessOf } from "../../../base/passphrase.ts";
import { resolvePaths, type Paths } from "../../../base/paths.ts";
import { Input } from "../../command.ts";
import { readStartOptions, rememberLaunch, admitPassphrase, rememberMark } from "./launch-options.ts";
import { reachProblems, problemLines } from "./reach.ts";

let home: string;
let paths: Paths;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-reach-"));
  paths = resolvePaths({ HOLDFAST_HOME: home, HOME: home });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const typed = (options: Record<string, string | string[]>): Input => new Input([], new Map(Object.entries(options)));

test("[REMOTE-1, REMOTE-2] public URLs stay until they are changed; none removes them; a wrong one is refused", () => {
  const urls = (given: string[], kept = defaultLaunchOptions) =>
    readStartOptions(typed({ "public-url": given }), {}, { kept }).publicUrls;
  const two = urls(["https://Box.example/", "http://localhost:8080", "https://box.example"]);
  expect(two).toEqual(["https://box.example", "http://localhost:8080"]);
  const kept = { ...defaultLaunchOptions, publicUrls: two };
  expect(readStartOptions(typed({}), {}, { kept }).publicUrls).toEqual(two);
  expect(urls(["none"], kept)).toEqual([]);
  expect(urls(["https://other.example"], kept)).toEqual(["https://other.example"]);
  expect(() => urls(["http://box.example"])).toThrow(
    "--public-url http://box.example cannot be used: without TLS, browsers store no keys",
  );
  // What a launch file says is read as strictly.
  expect(readLaunchOptions(kept)).toEqual(kept);
  expect(readLaunchOptions({ ...kept, publicUrls: ["http://box.example"] })).toBeNull();
  expect(readLaunchOptions({ ...kept, tlsCert: "/a" })).toBeNull();
});

test("[REMOTE-5] both TLS files or neither, read before anything starts, by absolute path", () => {
  const made = makeCertificate(home, "live", "box.example");
  const old = makeCertificate(home, "old", "box.example", -1);
  const tls = (options: Record<string, string>, kept = defaultLaunchOptions) => {
    const { tlsCert, tlsKey } = readStartOptions(typed(options), {}, { cwd: home, kept });
    return [tlsCert, tlsKey];
  };
  expect(tls({ "tls-cert": "live.crt", "tls-key": "live.key" })).toEqual([made.cert, made.key]);
  const kept = { ...defaultLaunchOptions, tlsCert: made.cert, tlsKey: made.key };
  expect(tls({}, kept)).toEqual([made.cert, made.key]);
  expect(tls({ "tls-cert": "none" }, kept)).toEqual([null, null]);
  expect(() => tls({ "tls-cert": "live.crt" })).toThrow("--tls-cert and --tls-key must be used together.");
  expect(() => tls({ "tls-cert": "live.crt", "tls-key": "old.key" })).toThrow("does not belong to the certificate");
  expect(() => tls({ "tls-cert": old.cert, "tls-key": old.key })).toThrow("expired on");
});

test("[REMOTE-7] beyond loopback without TLS is warned of, with the next step", () => {
  const beyond = { ...defaultLaunchOptions, host: "0.0.0.0" };
  expect(problemLines(reachProblems(beyond, paths))).toEqual([
    expect.stringContaining("Warning: Listening on 0.0.0.0 without TLS"),
    expect.stringContaining("--public-url https://<name>"),
  ]);
  expect(reachProblems({ ...beyond, publicUrls: ["https://box.example"] }, paths)).toEqual([]);
  expect(reachProblems(defaultLaunchOptions, paths)).toEqual([]);
});

test.each([
  "",
  "x",
  "hunter2",
  "password1234",
  "P@ssw0rd1234!",
  "passwordpassword",
  "qwertyuiop12",
  "aaaaaaaaaaaaaaaa",
  "1234567890123456",
  "abcdefghijklmnop",
  "justletters",
  "abababababababab",
  "correct horse battery staple",
  "Holdfast-2026",
  "secret secret secret secret",
])("[REMOTE-9] %j is too weak", (text) => expect(weaknessOf(text)).toMatch(/^it /));

test.each([
  "open sesame, said the forty",
  "bakor-tizum-lefan-rusod",
  "vier kleine Wörter hier",
  "xK9$mP2qVw7!",
  "qhzjxkvwpbfmtrcd",
  "a secret phrase of mine",
])("[REMOTE-9] %j is strong enough", (text) => expect(weaknessOf(text)).toBeNull());

test("[REMOTE-9] a generated passphrase is strong and can be typed", () => {
  let at = 0;
  const made = generatePassphrase((below) => (at += 7) % below);
  expect(made).toMatch(/^([a-z]{5}-){3}[a-z]{5}$/);
  expect(weaknessOf(made)).toBeNull();
});

test("[REMOTE-9, REMOTE-10] a new passphrase must be strong; the one in use may be weak, and is known again", () => {
  expect(() => admitPassphrase(paths, "hunter2")).toThrow(
    "The passphrase is too weak: it has fewer than 12 characters.",
  );
  // Of an earlier build: its hash is there, and no mark.
  writeFileSync(paths.passphrase, `${hashForMark("hunter2")}\n`);
  const auth = { ...defaultLaunchOptions, auth: "passphrase" as const };
  expect(reachProblems(auth, paths)[0]?.message).toBe("The passphrase was set before Holdfast checked its strength.");
  const old = admitPassphrase(paths, "hunter2");
  expect(old).toMatchObject({ weak: "it has fewer than 12 characters", replaced: false });
  rememberMark(paths, old);
  expect(statSync(paths.passphraseMark).mode & 0o777).toBe(0o600);
  expect(readFileSync(paths.passphraseMark, "utf8")).not.toContain("hunter2");
  expect(reachProblems(auth, paths)[0]?.message).toBe("The passphrase is weak: it has fewer than 12 characters.");
  // Whatever the daemon has made of the file meanwhile.
  rememberLaunch(paths, auth, "holdfast-other-v9:x");
  expect(admitPassphrase(paths, "hunter2")).toEqual(old);
  expect(() => admitPassphrase(paths, "hunter3")).toThrow("too weak");
  const next = admitPassphrase(paths, "bakor-tizum-lefan-rusod");
  expect(next).toMatchObject({ weak: null, replaced: true });
  rememberMark(paths, next);
  expect(admitPassphrase(paths, "bakor-tizum-lefan-rusod")).toEqual(next);
  expect(reachProblems(auth, paths)).toEqual([]);
});
