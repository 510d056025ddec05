/** What a client may ask, as schemas: every write is validated by one of these before anything looks at it. */
import * as z from "zod/mini";
import { containModes, hostPattern } from "./containment.ts";
import { rights } from "./rights.ts";
import { kinds, projectIdPattern, promptIdPattern, roles, type Disposition } from "./ids.ts";
import { trustStates } from "./trust.ts";

/** A prompt may be this long; the API's body limit allows for its encoding. */
export const maxPromptBytes = 32 * 1024 * 1024;

const title = z.string().check(z.minLength(1), z.maxLength(200));
const reference = z.string().check(z.minLength(1), z.maxLength(250));

export const spawnRequest = z.strictObject({
  project: z.string().check(z.regex(projectIdPattern)),
  issue: z.optional(z.string().check(z.minLength(1), z.maxLength(2048))),
  prompt: z.optional(z.string().check(z.maxLength(maxPromptBytes))),
  agent: z.optional(z.string()),
  kind: z.optional(z.enum(kinds)),
  role: z.optional(z.enum(roles)),
  branch: z.optional(reference),
  base: z.optional(reference),
  name: z.optional(title),
  /** Left out: as the project says. */
  contain: z.optional(
    z.strictObject({
      mode: z.optional(z.enum(containModes)),
      /** Accept what the repository's devcontainer.json runs and mounts. */
      trustDevcontainer: z.optional(z.boolean()),
      network: z.optional(
        z.union([
          z.enum(["on", "off"]),
          z.strictObject({ allow: z.array(z.string().check(z.regex(hostPattern))).check(z.maxLength(200)) }),
        ]),
      ),
    }),
  ),
  /** Take up the session that this issue already has. */
  resume: z.optional(z.boolean()),
  /** Return when the agent runs or has failed (default), or once the intent is written. */
  wait: z.optional(z.boolean()),
});
export type SpawnRequest = z.infer<typeof spawnRequest>;

export const verbRequest = z.strictObject({ wait: z.optional(z.boolean()) });
export type VerbRequest = z.infer<typeof verbRequest>;

export const snoozeRequest = z.strictObject({
  wait: z.optional(z.boolean()),
  forMs: z.number().check(z.positive(), z.maximum(366 * 24 * 3600 * 1000)),
});
export type SnoozeRequest = z.infer<typeof snoozeRequest>;

export const renameRequest = z.strictObject({ title });

/** What a page can show again without a risk. */
export const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;
const maxAttachments = 32;

export const promptAttachment = z.union([
  z.strictObject({
    type: z.literal("image"),
    mimeType: z.enum(imageTypes),
    /** Base64. */
    data: z.string().check(z.minLength(1), z.maxLength(maxPromptBytes)),
    name: z.optional(z.string().check(z.minLength(1), z.maxLength(250))),
  }),
  z.strictObject({
    type: z.literal("file"),
    /** A file of the session's worktree, named from there. */
    path: z.string().check(z.minLength(1), z.maxLength(4096)),
    /** What of it is meant, or all of it; without it the agent reads the file itself. */
    text: z.optional(z.string().check(z.maxLength(maxPromptBytes))),
  }),
]);

export const promptRequest = z.strictObject({
  promptId: z.string().check(z.regex(promptIdPattern)),
  text: z.string().check(z.minLength(1), z.maxLength(maxPromptBytes)),
  /** With the text at most `maxPromptBytes`, as it is sent. */
  attachments: z.optional(z.array(promptAttachment).check(z.maxLength(maxAttachments))),
  /** How long to wait for the delivery receipt. */
  waitMs: z.optional(z.number().check(z.nonnegative(), z.maximum(600_000))),
  /** Wait for the end of the turn that answers it (chat); the answer then has `turn`. */
  waitForTurn: z.optional(z.boolean()),
});
export type PromptRequest = z.infer<typeof promptRequest>;

export interface Receipt {
  promptId: string;
  disposition: Disposition;
  reason: string | null;
}

/** By the option's own id, or by what it means; without a request id the oldest open question is meant. */
export const answerRequest = z.strictObject({
  requestId: z.optional(z.string().check(z.maxLength(512))),
  optionId: z.optional(z.string().check(z.maxLength(512))),
  answer: z.optional(z.enum(["allow", "allow_always", "deny"])),
});
export type AnswerRequest = z.infer<typeof answerRequest>;

export const configureRequest = z.strictObject({
  mode: z.optional(z.string().check(z.maxLength(200))),
  model: z.optional(z.string().check(z.maxLength(200))),
  option: z.optional(
    z.strictObject({ id: z.string().check(z.maxLength(200)), value: z.string().check(z.maxLength(200)) }),
  ),
});
export type ConfigureRequest = z.infer<typeof configureRequest>;

export const convertRequest = z.strictObject({
  kind: z.enum(kinds),
  /** Discards the conversation instead of handing it over. */
  fresh: z.optional(z.boolean()),
  wait: z.optional(z.boolean()),
});
export type ConvertRequest = z.infer<typeof convertRequest>;

export const promptEditRequest = z.strictObject({
  text: z.optional(z.string().check(z.minLength(1), z.maxLength(maxPromptBytes))),
  /** New place among those that wait, from 0. */
  position: z.optional(z.number().check(z.nonnegative())),
  withdraw: z.optional(z.boolean()),
});
export type PromptEditRequest = z.infer<typeof promptEditRequest>;

export const cleanupRequest = z.strictObject({
  project: z.optional(z.string()),
  dryRun: z.optional(z.boolean()),
  dead: z.optional(z.boolean()),
});
export type CleanupRequest = z.infer<typeof cleanupRequest>;

export interface CleanupLine {
  session: string;
  outcome: "would-kill" | "cleaned" | "error" | "skipped";
  why: string | null;
  /** Work that only its worktree holds, and where it is kept. */
  notes?: string[] | undefined;
}

export const refreshRequest = z.strictObject({ project: z.optional(z.string()) });
export type RefreshRequest = z.infer<typeof refreshRequest>;

/** A number, or an address. */
export const claimRequest = z.strictObject({ pullRequest: z.string().check(z.minLength(1), z.maxLength(2048)) });
export type ClaimRequest = z.infer<typeof claimRequest>;

/** As the browser made it, for the home's own key. */
export const pushRequest = z.strictObject({
  endpoint: z.string().check(z.minLength(1), z.maxLength(2048)),
  keys: z.strictObject({
    p256dh: z.string().check(z.minLength(1), z.maxLength(128)),
    auth: z.string().check(z.minLength(1), z.maxLength(64)),
  }),
  /** What the person knows this browser by. */
  label: z.string().check(z.minLength(1), z.maxLength(80)),
  /** Where the dashboard is for this browser. */
  origin: z.optional(z.string().check(z.maxLength(300))),
});
export type PushRequest = z.infer<typeof pushRequest>;

export const projectAddRequest = z.strictObject({
  path: z.string().check(z.minLength(1)),
  /** Let this file describe projects that another file describes now. */
  move: z.optional(z.boolean()),
});
export type ProjectAddRequest = z.infer<typeof projectAddRequest>;

/** `digest` names exactly what was shown: a file that changed since is not answered by it. */
export const trustRequest = z.strictObject({
  digest: z.string().check(z.minLength(1), z.maxLength(128)),
  trust: z.boolean(),
  /** The state that the caller saw: where another client answered meanwhile, this answer does not count. */
  seen: z.optional(z.enum(trustStates)),
});
export type TrustRequest = z.infer<typeof trustRequest>;

export const stopDaemonRequest = z.strictObject({ haltSessions: z.optional(z.boolean()) });
const base64url = (characters: number) => z.string().check(z.regex(new RegExp(`^[\\w-]{${characters}}$`)));
/** Neither the link's secret nor the passphrase is sent, only a proof of it for this key. */
export const loginRequest = z.strictObject({
  /** Of the login link, the part before the dot; without it the proof is the passphrase's. */
  code: z.optional(z.string().check(z.maxLength(64))),
  nonce: z.string().check(z.maxLength(64)),
  /** An uncompressed point on P-256. */
  publicKey: base64url(87),
  proof: base64url(43),
  /** Such as "Firefox on Linux"; the link may name the device itself. */
  name: z.string().check(z.minLength(1), z.maxLength(80)),
});
export type LoginRequest = z.infer<typeof loginRequest>;
const deviceName = z.string().check(z.trim(), z.minLength(1), z.maxLength(80));
export const loginLinkRequest = z.strictObject({
  rights: z.optional(z.enum(rights)),
  name: z.optional(deviceName),
  /** `pair`: for another device, which takes a while to get there. */
  for: z.optional(z.enum(["here", "pair"])),
  /** Also as a file that redirects there: a link in a command line is read by everyone on the machine. */
  file: z.optional(z.boolean()),
});
export type LoginLinkRequest = z.infer<typeof loginLinkRequest>;
export const deviceRequest = z.strictObject({ name: z.optional(deviceName), rights: z.optional(z.enum(rights)) });
export type DeviceRequest = z.infer<typeof deviceRequest>;
export const logoutRequest = z.strictObject({ all: z.optional(z.boolean()) });
export const trashRequest = z.strictObject({ id: z.optional(z.string()), olderThanDays: z.optional(z.number()) });
