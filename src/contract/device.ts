/** Devices: logging in, their rights, and the main token. */
import { get, list, post, schema, time, trigger, user, watchers, type Infer, type Operations } from "./operation.ts";
import { rights } from "./rights.ts";

const challengeJson = schema("challengeJson", (z) =>
  z.object({
    nonce: z.string(),
    lifeMs: z.number(),
    /** How to prove the passphrase; null if none is set. `salt` is null for one that must be set again first. */
    passphrase: z.nullable(z.object({ salt: z.nullable(z.string()), iterations: z.number() })),
  }),
);

/** A browser that is logged in. */
const deviceJson = schema("deviceJson", (z) =>
  z.object({
    id: z.string(),
    name: z.string(),
    rights: z.enum(rights),
    createdAt: time(z),
    /** Accurate to a few minutes. */
    lastSeen: time(z),
    lastAddress: z.nullable(z.string()),
    /** Origin of the page that it logged in from. */
    origin: z.string(),
    /** Whether it is the calling device. */
    isYou: z.boolean(),
  }),
);
export type DeviceJson = Infer<typeof deviceJson>;

/** Neither the link's secret nor the passphrase is sent, only a proof of it for this key. */
const loginRequest = schema("loginRequest", (z) => {
  const base64url = (characters: number) => z.string().check(z.regex(new RegExp(`^[\\w-]{${characters}}$`)));
  return z.strictObject({
    /** Of the login link, the part before the dot; without it the proof is the passphrase's. */
    code: z.optional(z.string().check(z.maxLength(64))),
    nonce: z.string().check(z.maxLength(64)),
    /** An uncompressed point on P-256. */
    publicKey: base64url(87),
    proof: base64url(43),
    /** Such as "Firefox on Linux"; the link may name the device itself. */
    name: z.string().check(z.minLength(1), z.maxLength(80)),
  });
});
export type LoginRequest = Infer<typeof loginRequest>;

const deviceName = schema("deviceName", (z) => z.string().check(z.trim(), z.minLength(1), z.maxLength(80)));

const loginLinkRequest = schema("loginLinkRequest", (z) =>
  z.strictObject({
    rights: z.optional(z.enum(rights)),
    name: z.optional(deviceName(z)),
    /** `pair`: for another device, so that the link lives longer. */
    for: z.optional(z.enum(["here", "pair"])),
    /** Also return a file that redirects to the link: every user of the machine can read a link in a command line. */
    file: z.optional(z.boolean()),
  }),
);
export type LoginLinkRequest = Infer<typeof loginLinkRequest>;

const deviceRequest = schema("deviceRequest", (z) =>
  z.strictObject({ name: z.optional(deviceName(z)), rights: z.optional(z.enum(rights)) }),
);

const logoutRequest = schema("logoutRequest", (z) => z.strictObject({ all: z.optional(z.boolean()) }));

const loginJson = schema("loginJson", (z) => z.object({ device: deviceJson(z) }));
/** How many devices were revoked. */
const logoutJson = schema("logoutJson", (z) => z.object({ revoked: z.number() }));
/** `file` redirects to `url`; it is removed when the link is used or expires. */
const loginLinkJson = schema("loginLinkJson", (z) =>
  z.object({ url: z.string(), expiresAt: time(z), file: z.optional(z.nullable(z.string())) }),
);
const rotatedJson = schema("rotatedJson", (z) => z.object({ file: z.string() }));

const loginWhileReadOnly = { why: "Reading needs a login too; a login changes nothing that is supervised." };

export const deviceOperations = {
  challenge: get(
    "/api/challenge",
    "Get what a browser signs with its next requests, and how to prove the passphrase",
    { device: "anyone" },
    challengeJson,
  ),
  login: post(
    "/api/login",
    "Enroll a browser's key, vouched for by a login link or the passphrase",
    { device: "anyone", whileReadOnly: loginWhileReadOnly },
    loginJson,
    loginRequest,
  ),
  loginLink: post(
    "/api/login-link",
    "Create a one-time login link, for this machine's browser or to pair a device",
    { device: "socket-only", whileReadOnly: loginWhileReadOnly },
    loginLinkJson,
    loginLinkRequest,
  ),
  // `all: true` needs the right `all`.
  logout: post(
    "/api/logout",
    "Revoke the calling device, or all devices",
    {
      device: "watch",
      whileReadOnly: { why: "A browser can always give up its own access.", unless: "all" },
    },
    logoutJson,
    logoutRequest,
  ),
  devices: get("/api/devices", "List browsers that are logged in", watchers, list(deviceJson)),
  deviceEdit: post("/api/devices/{id}", "Change a device's name or rights", user, deviceJson, deviceRequest),
  deviceRevoke: {
    method: "DELETE",
    path: "/api/devices/{id}",
    summary: "Revoke a device: close its connections and stop its pushes",
    who: {
      device: "all",
      whileReadOnly: { why: "A lost device is locked out even on a read-only daemon.", via: "socket" },
    },
    output: deviceJson,
  },
  tokenRotate: trigger(
    "/api/token/rotate",
    "Replace the main token; connections opened with the old one close",
    {
      device: "socket-only",
      whileReadOnly: { why: "A leaked token is replaced even on a read-only daemon.", via: "socket" },
    },
    rotatedJson,
  ),
} as const satisfies Operations;
