/** The daemon itself: state, settings, checks. */
import { get, list, post, schema, time, watchers, type Infer, type Operations } from "./operation.ts";
import { projectJson } from "./project.ts";
import { kinds } from "./ids.ts";

/** Without a credential `ok` alone: an attacker could use the version. */
const healthJson = schema("healthJson", (z) =>
  z.object({ ok: z.boolean(), version: z.optional(z.string()), build: z.optional(z.string()) }),
);

const infoJson = schema("infoJson", (z) =>
  z.object({
    state: z.enum(["running", "starting", "stopped", "unresponsive"]),
    pid: z.nullable(z.number()),
    version: z.string(),
    build: z.string(),
    url: z.nullable(z.string()),
    /** Further addresses that browsers may use. Missing from earlier builds, like `tls`. */
    publicUrls: z.optional(z.array(z.string())),
    /** Our own TLS; null without. */
    tls: z.optional(z.nullable(z.object({ cert: z.string(), expiresAt: z.nullable(z.string()) }))),
    socket: z.nullable(z.string()),
    home: z.string(),
    startedAt: time(z),
    managedBy: z.nullable(z.string()),
  }),
);
export type InfoJson = Infer<typeof infoJson>;

const stopDaemonRequest = schema("stopDaemonRequest", (z) => z.strictObject({ haltSessions: z.optional(z.boolean()) }));
/** `kept`: sessions that keep running unsupervised; `halted`: sessions that were stopped. */
const stopJson = schema("stopJson", (z) =>
  z.object({ kept: z.number(), halted: z.array(z.string()), remaining: z.array(z.string()) }),
);

const findingJson = schema("findingJson", (z) =>
  z.object({
    check: z.string(),
    level: z.enum(["ok", "info", "warn", "fail"]),
    message: z.string(),
    fix: z.nullable(z.string()),
    /** Whether `doctor --fix` can fix it. */
    fixable: z.boolean(),
  }),
);
export type FindingJson = Infer<typeof findingJson>;

/** A finding that `doctor --fix` cannot fix. */
export function finding(
  check: string,
  level: FindingJson["level"],
  message: string,
  fix: string | null = null,
): FindingJson {
  return { check, level, message, fix, fixable: false };
}

const settingsJson = schema("settingsJson", (z) =>
  z.object({
    version: z.string(),
    build: z.string(),
    home: z.string(),
    readOnly: z.boolean(),
    agents: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        kinds: z.array(z.enum(kinds)),
        /** Whether its command is found for one of its kinds. */
        installed: z.boolean(),
        command: z.string(),
        /** Why it cannot be used, with the fix. */
        reason: z.nullable(z.string()),
        /** The project whose holdfast.yaml defines or extends it; missing for agents that every project has. */
        project: z.optional(z.string()),
      }),
    ),
    projects: z.array(projectJson(z)),
    notify: z.unknown(),
    configFiles: z.array(z.string()),
    trashDays: z.number(),
  }),
);
export type SettingsJson = Infer<typeof settingsJson>;

const openapi = schema("openapi", (z) => z.record(z.string(), z.unknown()));

export const daemonOperations = {
  health: get(
    "/api/health",
    "Check that the daemon is ready; with a credential, that it can query and write",
    { device: "anyone", agent: "daemon" },
    healthJson,
  ),
  info: get(
    "/api/info",
    "Show the daemon's state, address and version",
    { device: "watch", agent: "daemon" },
    infoJson,
  ),
  daemonStop: post(
    "/api/daemon/stop",
    "Stop the daemon and, on request, its sessions",
    {
      device: "all",
      whileReadOnly: {
        why: "The user can always stop their own daemon; agents keep running.",
        unless: "haltSessions",
        via: "socket",
      },
    },
    stopJson,
    stopDaemonRequest,
  ),
  doctor: get("/api/doctor", "Run the checks that only the daemon can run", watchers, list(findingJson), {
    full: "1: also run the command line's checks",
  }),
  settings: get("/api/settings", "Show the daemon's agents, projects and options", watchers, settingsJson),
  openapi: get("/openapi.json", "Get this description", { device: "watch", agent: "daemon" }, openapi),
} as const satisfies Operations;
