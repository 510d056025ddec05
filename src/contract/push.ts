/** Web push: browsers that are notified while no tab is open. */
import { get, list, post, schema, time, trigger, watchers, type Infer, type Operations } from "./operation.ts";

/** As the browser created it, for the home's own key. */
const pushRequest = schema("pushRequest", (z) =>
  z.strictObject({
    endpoint: z.string().check(z.minLength(1), z.maxLength(2048)),
    keys: z.strictObject({
      p256dh: z.string().check(z.minLength(1), z.maxLength(128)),
      auth: z.string().check(z.minLength(1), z.maxLength(64)),
    }),
    /** The user's name for this browser. */
    label: z.string().check(z.minLength(1), z.maxLength(80)),
    /** The dashboard's address for this browser. */
    origin: z.optional(z.string().check(z.maxLength(300))),
  }),
);

/** A subscribed browser. Its push service's endpoint is a secret and left out. */
const pushBrowserJson = schema("pushBrowserJson", (z) =>
  z.object({
    id: z.string(),
    label: z.string(),
    /** Host of the push service. */
    service: z.string(),
    createdAt: time(z),
    /** Since the daemon started. */
    lastOk: time(z),
    failure: z.nullable(z.object({ why: z.string(), at: time(z) })),
    /** The device it belongs to; null for one of an earlier version. */
    device: z.optional(z.nullable(z.string())),
  }),
);
export type PushBrowserJson = Infer<typeof pushBrowserJson>;

const pushJson = schema("pushJson", (z) => z.object({ publicKey: z.string(), browsers: list(pushBrowserJson)(z) }));
export type PushJson = Infer<typeof pushJson>;

const pushTestJson = schema("pushTestJson", (z) => z.object({ sent: z.boolean(), why: z.nullable(z.string()) }));

/** A device changes its own subscription; another device's needs `all`. */
export const pushOperations = {
  push: get("/api/push", "Get the push key and subscribed browsers", watchers, pushJson),
  pushSubscribe: post("/api/push", "Subscribe this browser to pushes", watchers, pushBrowserJson, pushRequest),
  pushRemove: {
    method: "DELETE",
    path: "/api/push/{id}",
    summary: "Remove a browser's push subscription",
    who: watchers,
    output: pushBrowserJson,
  },
  pushTest: trigger("/api/push/{id}/test", "Send a test push to a browser", watchers, pushTestJson),
} as const satisfies Operations;
