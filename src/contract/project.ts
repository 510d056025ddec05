/** Projects, and the user's trust in their holdfast.yaml. */
import { get, list, post, schema, time, user, watchers, type Infer, type Operations } from "./operation.ts";
import { trustStates } from "./trust.ts";
import { kinds } from "./ids.ts";

export const projectJson = schema("projectJson", (z) =>
  z.object({
    id: z.string(),
    path: z.string(),
    prefix: z.string(),
    defaultBranch: z.string(),
    agent: z.string(),
    kind: z.enum(kinds),
    tracker: z.nullable(z.object({ type: z.string(), repo: z.string() })),
    configFile: z.nullable(z.string()),
    sessions: z.number(),
    /** Whether all of its holdfast.yaml applies. Missing from older daemons. */
    trust: z.optional(z.enum(trustStates)),
    /** Settings of that file that never apply: one sentence each. */
    notices: z.optional(z.array(z.string())),
  }),
);
export type ProjectJson = Infer<typeof projectJson>;

const projectAddRequest = schema("projectAddRequest", (z) =>
  z.strictObject({
    path: z.string().check(z.minLength(1)),
    /** Let this file define projects that another file defines now. */
    move: z.optional(z.boolean()),
  }),
);

/** `digest` names exactly what was shown: a file that changed since is not answered by it. */
const trustRequest = schema("trustRequest", (z) =>
  z.strictObject({
    digest: z.string().check(z.minLength(1), z.maxLength(128)),
    trust: z.boolean(),
    /** The state that the caller saw: if another client answered meanwhile, this answer is refused. */
    seen: z.optional(z.enum(trustStates)),
  }),
);

/** A repository's holdfast.yaml as a question. `file` is null if the repository has no such file. */
const trustJson = schema("trustJson", (z) => {
  const part = { key: z.string(), value: z.string() };
  return z.object({
    project: z.nullable(z.string()),
    file: z.nullable(z.string()),
    state: z.enum(trustStates),
    /** Of `parts`; the answer has to name it. */
    digest: z.nullable(z.string()),
    /** Settings that need trust: they run or send something, or change what agents see. */
    parts: z.array(z.object(part)),
    /** Against the version that was answered before, if there is one. */
    changes: z.nullable(z.array(z.object({ change: z.enum(["same", "added", "removed"]), ...part }))),
    /** When that version was answered. */
    since: time(z),
    /** Settings that never apply, whatever the answer: one sentence each. */
    notices: z.array(z.string()),
  });
});
export type TrustJson = Infer<typeof trustJson>;

export const projectOperations = {
  projects: get("/api/projects", "List projects", { device: "watch", agent: "list" }, list(projectJson)),
  projectAdd: post(
    "/api/projects",
    "Register a repository, or the projects of its holdfast.yaml",
    user,
    list(projectJson),
    projectAddRequest,
  ),
  projectRemove: {
    method: "DELETE",
    path: "/api/projects/{id}",
    summary: "Unregister a project; nothing on disk is changed",
    who: user,
    output: projectJson,
  },
  trustAt: get(
    "/api/trust",
    "Show what the holdfast.yaml of a path would run or change, before it is registered",
    watchers,
    trustJson,
    { path: "the repository, or a directory with a holdfast.yaml" },
  ),
  trust: get(
    "/api/projects/{id}/trust",
    "Show what a project's holdfast.yaml would run or change, and whether you trust it",
    watchers,
    trustJson,
  ),
  trustAnswer: post(
    "/api/projects/{id}/trust",
    "Trust a project's holdfast.yaml as it was shown, or decline it",
    user,
    trustJson,
    trustRequest,
  ),
} as const satisfies Operations;
