/** Web push: the subscribed browsers, and their findings for `doctor`. */
import { finding, type FindingJson } from "../contract/daemon.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { PushBrowserJson } from "../contract/push.ts";
import { rightText } from "../contract/rights.ts";
import type { LazyPush } from "../integrations/notifiers/lazy-push.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { Push, PushBrowser } from "../ports/notify.ts";
import { iso } from "../supervisor/view.ts";

export function pushHandlers(lazy: LazyPush): Handlers<"push" | "pushSubscribe" | "pushRemove" | "pushTest"> {
  return {
    push: async () => {
      const push = await lazy.open();
      return { publicKey: push.publicKey(), browsers: push.browsers().map(browserJson) };
    },
    pushSubscribe: async ({ device, input }) => {
      const push = await lazy.open();
      return browserJson(push.subscribe({ ...input, device: device?.id ?? null }));
    },
    pushRemove: async (request) => {
      const push = await lazy.open();
      const found = ownBrowser(push, request);
      push.remove(found.id);
      return browserJson(found);
    },
    pushTest: async (request) => {
      const push = await lazy.open();
      const why = await push.test(ownBrowser(push, request).id);
      return { sent: why === null, why };
    },
  };
}

export function pushFindings(push: Push): FindingJson[] {
  const all = push.browsers();
  const check = "push";
  const found = all.flatMap(({ label, service, failure }) => {
    if (failure === null) return [];
    const message = `The last push to ${label} by ${service} failed at ${iso(failure.at)}: ${failure.why}. Nothing else is affected.`;
    return [finding(check, "warn", message, "If this persists, turn push off and on again in that browser.")];
  });
  if (all.length > 0 && found.length === 0) {
    const count = all.length === 1 ? "One browser is" : `${all.length} browsers are`;
    found.push(finding(check, "ok", `${count} subscribed to push.`));
  }
  for (const { label, at } of push.ended()) {
    const message = `${label} is no longer subscribed to push: its push service reported so at ${iso(at)}.`;
    found.push(finding(check, "info", message, "Turn it on again in that browser."));
  }
  return found;
}

/** A device without all rights may change its own subscription only. */
function ownBrowser(push: Push, { params, device }: ApiRequest<"pushRemove" | "pushTest">): PushBrowser {
  const found = push.browsers().find(({ id }) => id === params.id);
  if (found === undefined) {
    throw new HoldfastError("not-found", `No browser ${params.id} is subscribed.`, {
      hint: "The dashboard's settings list them.",
    });
  }
  if (device === undefined || device.rights === "all" || found.device === device.id) return found;
  throw new HoldfastError("forbidden", `This device ${rightText[device.rights]}; ${found.label} is another device.`, {
    hint: "Use a device with all rights.",
  });
}

function browserJson({ id, label, service, createdAt, lastOkAt, failure, device }: PushBrowser): PushBrowserJson {
  return {
    id,
    label,
    service,
    createdAt: iso(createdAt),
    lastOk: lastOkAt === null ? null : iso(lastOkAt),
    failure: failure === null ? null : { why: failure.why, at: iso(failure.at) },
    device,
  };
}
