import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepLaunch, defaultLaunchOptions } from "../../../base/launch-options.ts";
import { resolvePaths, type Paths } from "../../../base/paths.ts";
import { Input } from "../../command.ts";
import {
  choosePassphrase,
  lastLaunchOptions,
  readStartOptions,
  rememberLaunch,
  storedPassphrase,
} from "./launch-options.ts";
import { bareHost, isLoopback } from "../../../base/addresses.ts";

let home: string;
let paths: Paths;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-launch-"));
  paths = resolvePaths({ HOLDFAST_HOME: home, HOME: home });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const typed = (options: Record<string, string | true>): Input => new Input([], new Map(Object.entries(options)));
const beyond = { ...defaultLaunchOptions, host: "0.0.0.0" };

test("[CLI-47] options that are not given take their defaults", () => {
  expect(readStartOptions(typed({}), {})).toEqual(defaultLaunchOptions);
  expect(
    readStartOptions(typed({ host: "::1", port: "0", auth: "passphrase", "read-only": true, "no-restore": true }), {}),
  ).toEqual({
    host: "::1",
    port: 0,
    portGiven: true,
    auth: "passphrase",
    readOnly: true,
    restore: false,
    logLevel: "info",
    publicUrls: [],
    tlsCert: null,
    tlsKey: null,
  });
  expect(readStartOptions(typed({}), { HOLDFAST_LOG: "debug" }).logLevel).toBe("debug");
  expect(readStartOptions(typed({ "log-level": "warn" }), { HOLDFAST_LOG: "debug" }).logLevel).toBe("warn");
  for (const port of ["-1", "65536", "x", "1.5", ""])
    expect(() => readStartOptions(typed({ port }), {})).toThrow("--port must be");
});

test("[CLI-47] the last start's options are replayed; a damaged file means the defaults", () => {
  expect(lastLaunchOptions(paths)).toEqual(defaultLaunchOptions);
  const options = { ...defaultLaunchOptions, port: 9, portGiven: true, readOnly: true };
  rememberLaunch(paths, options, null);
  keepLaunch(paths.launchFile);
  expect(lastLaunchOptions(paths)).toEqual(options);
  writeFileSync(paths.launchFile, '{"port"');
  expect(lastLaunchOptions(paths)).toEqual(defaultLaunchOptions);
});

test("[CLI-54] options of a start that never became ready are not replayed", () => {
  rememberLaunch(paths, { ...defaultLaunchOptions, port: 1 }, null);
  expect(lastLaunchOptions(paths)).toEqual(defaultLaunchOptions);
  const good = { ...defaultLaunchOptions, port: 9 };
  rememberLaunch(paths, good, null);
  keepLaunch(paths.launchFile);
  // Two starts in a row whose starters crash: what worked last is still known.
  rememberLaunch(paths, { ...good, port: 1 }, null);
  rememberLaunch(paths, { ...good, port: 2 }, null);
  expect(lastLaunchOptions(paths)).toEqual(good);
  expect(lastLaunchOptions(paths)).toEqual(good);
});

test("[CLI-48] a given passphrase and a host beyond loopback mean --auth passphrase", () => {
  const auth = (options: Record<string, string | true>, env = {}): string => readStartOptions(typed(options), env).auth;
  expect(auth({ host: "0.0.0.0", "passphrase-file": "f" })).toBe("passphrase");
  expect(auth({ host: "0.0.0.0" })).toBe("passphrase");
  expect(auth({ "passphrase-file": "f" })).toBe("passphrase");
  expect(auth({}, { HOLDFAST_PASSPHRASE: "x" })).toBe("passphrase");
  expect(auth({ host: "127.0.0.1" }, { HOLDFAST_PASSPHRASE: "" })).toBe("token");
  expect(auth({ auth: "token" }, { HOLDFAST_PASSPHRASE: "x" })).toBe("token");
  expect(() => auth({ host: "0.0.0.0", auth: "token" })).toThrow("requires --auth passphrase");
});

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["localhost", true],
  ["::1", true],
  ["[::1]", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.1.2", false],
  ["127.0.0.1.example.org", false],
  ["localhost.example.org", false],
])("[CLI-48] %s is loopback: %s", (host, expected) => expect(isLoopback(bareHost(host))).toBe(expected));

test("[CLI-48] beyond loopback nothing starts without a passphrase", () => {
  const sources = { file: undefined, env: {}, paths };
  expect(() => choosePassphrase(beyond, sources)).toThrow(
    "Listening on 0.0.0.0, beyond this machine, requires a passphrase.",
  );
  expect(() => choosePassphrase({ ...defaultLaunchOptions, auth: "passphrase" }, sources)).toThrow(
    "--auth passphrase requires a passphrase.",
  );
  expect(choosePassphrase(defaultLaunchOptions, sources)).toBeNull();
  expect(choosePassphrase(beyond, { ...sources, env: { HOLDFAST_PASSPHRASE: "from env" } })).toBe("from env");
  const file = join(home, "given");
  expect(() => choosePassphrase(beyond, { ...sources, file })).toThrow("Cannot read the passphrase file");
  writeFileSync(file, " \n");
  expect(() => choosePassphrase(beyond, { ...sources, file })).toThrow("is empty");
  writeFileSync(file, "from file\n");
  expect(choosePassphrase(beyond, { ...sources, file, env: { HOLDFAST_PASSPHRASE: "from env" } })).toBe("from file");
});

test("[CLI-48] a passphrase is kept 0600 and recalled by a later start", () => {
  rememberLaunch(paths, beyond, "a secret phrase");
  expect(statSync(paths.passphrase).mode & 0o777).toBe(0o600);
  expect(statSync(paths.launchFile).mode & 0o777).toBe(0o600);
  expect(storedPassphrase(paths)).toBe("a secret phrase");
  expect(choosePassphrase(beyond, { file: undefined, env: {}, paths })).toBeNull();
});

test.each([
  null,
  [],
  "x",
  { host: 5 },
  { host: "" },
  { port: "80" },
  { port: 70_000 },
  { auth: "none" },
  { restore: 1 },
  { logLevel: "loud" },
])("[DAEMON-28] invalid options, %j, are not replayed", (value) => {
  writeFileSync(paths.launchFile, JSON.stringify(value));
  expect(lastLaunchOptions(paths)).toEqual(defaultLaunchOptions);
});
