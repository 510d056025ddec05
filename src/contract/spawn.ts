/** Starting sessions. */
import { containModes, hostPattern } from "./containment.ts";
import { projectIdPattern } from "./ids.ts";
import { get, post, schema, type Infer, type Operations } from "./operation.ts";
import { maxPromptBytes } from "./prompt.ts";
import { sessionJson } from "./session.ts";
import { kinds, roles } from "./ids.ts";

const spawnRequest = schema("spawnRequest", (z) => {
  const reference = z.string().check(z.minLength(1), z.maxLength(250));
  return z.strictObject({
    project: z.string().check(z.regex(projectIdPattern)),
    issue: z.optional(z.string().check(z.minLength(1), z.maxLength(2048))),
    prompt: z.optional(z.string().check(z.maxLength(maxPromptBytes))),
    agent: z.optional(z.string()),
    kind: z.optional(z.enum(kinds)),
    role: z.optional(z.enum(roles)),
    branch: z.optional(reference),
    base: z.optional(reference),
    name: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
    /** Default: the project's setting. */
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
    /** Reuse the issue's existing session. */
    resume: z.optional(z.boolean()),
    /** Return when the agent runs or failed (default), or once the intent is recorded. */
    wait: z.optional(z.boolean()),
  });
});
export type SpawnRequest = Infer<typeof spawnRequest>;

const spawningJson = schema("spawningJson", (z) => z.object({ session: z.nullable(z.string()) }));

const preflightJson = schema("preflightJson", (z) =>
  z.object({
    problems: z.array(z.object({ message: z.string(), hint: z.nullable(z.string()) })),
    /** Values of the session; null if they are only known once it is created. */
    branch: z.nullable(z.string()),
    base: z.nullable(z.string()),
    id: z.nullable(z.string()),
    agent: z.nullable(z.string()),
    kind: z.enum(kinds),
  }),
);
export type PreflightJson = Infer<typeof preflightJson>;

export const spawnOperations = {
  spawn: post("/api/sessions", "Start a session", { device: "all", agent: "spawn" }, sessionJson, spawnRequest),
  // Only the caller of that spawn knows the id.
  spawning: get(
    "/api/spawns/{id}",
    "Get the session of a pending spawn by its holdfast-request id",
    { device: "watch", agent: "daemon" },
    spawningJson,
  ),
  preflight: post(
    "/api/preflight",
    "Check whether a spawn would succeed, without creating anything",
    { device: "all", whileReadOnly: { why: "It only checks and creates nothing." } },
    preflightJson,
    spawnRequest,
  ),
} as const satisfies Operations;
