/** Projects, and the user's trust in their holdfast.yaml. */
import { list, schema, time, type Infer, type Operations } from "./operation.ts";
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
  projects: {
    method: "GET",
    path: "/api/projects",
    summary: "List projects",
    who: { device: "watch", agent: "list" },
    output: list(projectJson),
  },
  projectAdd: {
    method: "POST",
    path: "/api/projects",
    summary: "Register a repository, or the projects of its holdfast.yaml",
    who: { device: "all" },
    input: projectAddRequest,
    output: list(projectJson),
  },
  projectRemove: {
    method: "DELETE",
    path: "/api/projects/{id}",
    summary: "Unregister a project; nothing on disk is changed",
    who: { device: "all" },
    output: projectJson,
  },
  trustAt: {
    method: "GET",
    path: "/api/trust",
    summary: "Show what the holdfast.yaml of a path would run or change, before it is registered",
    who: { device: "watch" },
    query: { path: "the repository, or a directory with a holdfast.yaml" },
    output: trustJson,
  },
  trust: {
    method: "GET",
    path: "/api/projects/{id}/trust",
    summary: "Show what a project's holdfast.yaml would run or change, and whether you trust it",
    who: { device: "watch" },
    output: trustJson,
  },
  trustAnswer: {
    method: "POST",
    path: "/api/projects/{id}/trust",
    summary: "Trust a project's holdfast.yaml as it was shown, or decline it",
    who: { device: "all" },
    input: trustRequest,
    output: trustJson,
  },
} as const satisfies Operations;
