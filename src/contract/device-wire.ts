/** Logging in and devices, as they are sent over the API. */
import * as z from "zod/mini";
import { rights } from "./rights.ts";

const time = z.nullable(z.iso.datetime());

export const challengeJson = z.object({
  nonce: z.string(),
  lifeMs: z.number(),
  /** How to prove the passphrase; null where none is set. `salt` is null for one that must be set again first. */
  passphrase: z.nullable(z.object({ salt: z.nullable(z.string()), iterations: z.number() })),
});
/** A browser that is logged in. */
export const deviceJson = z.object({
  id: z.string(),
  name: z.string(),
  rights: z.enum(rights),
  createdAt: time,
  /** Exact to some minutes. */
  lastSeen: time,
  lastAddress: z.nullable(z.string()),
  /** Address of the page that it logged in from. */
  origin: z.string(),
  /** Whether it is the device that asks. */
  isYou: z.boolean(),
});
export type DeviceJson = z.infer<typeof deviceJson>;
export const loginJson = z.object({ device: deviceJson });
/** How many devices were revoked. */
export const logoutJson = z.object({ revoked: z.number() });
/** `file` redirects to `url`, and goes away when the link is used or expires. */
export const loginLinkJson = z.object({ url: z.string(), expiresAt: time, file: z.optional(z.nullable(z.string())) });
export const rotatedJson = z.object({ file: z.string() });
