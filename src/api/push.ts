/** What people ask about pushes: which browsers get them, one more, one less, a test; and what `doctor` says of them. */
import type { ApiRequest } from "../ports/api.ts";
import type { PushBrowser } from "../ports/notify.ts";
import { HoldfastError } from "../contract/errors.ts";
import { rightWords } from "../contract/rights.ts";
import type { Output } from "../contract/operations.ts";
import type { FindingJson } from "../contract/daemon.ts";
import type { PushBrowserJson, PushJson } from "../contract/push.ts";
import type { LazyPush } from "../integrations/notifiers/lazy-push.ts";
import { iso } from "../supervisor/view.ts";

export async function browsers(door: LazyPush): Promise<PushJson> {
  const push = await door.open();
  return { publicKey: push.publicKey(), browsers: push.browsers().map(browserJson) };
}

export async function subscribe(door: LazyPush, ask: ApiRequest<"pushSubscribe">): Promise<PushBrowserJson> {
  const device = ask.device?.id ?? null;
  return browserJson((await door.open()).subscribe({ ...ask.input, device }));
}

export async function remove(door: LazyPush, ask: ApiRequest<"pushRemove">): Promise<PushBrowserJson> {
  const push = await door.open();
  const found = ownBrowser(push.browsers(), ask);
  push.remove(found.id);
  return browserJson(found);
}

export async function test(door: LazyPush, ask: ApiRequest<"pushTest">): Promise<Output<"pushTest">> {
  const push = await door.open();
  const why = await push.test(ownBrowser(push.browsers(), ask).id);
  return { sent: why === null, why };
}

export async function findings(door: LazyPush): Promise<FindingJson[]> {
  const push = await door.open();
  const all = push.browsers();
  const check = "push";
  const found: FindingJson[] = all.flatMap(({ label, service, failure }) => {
    if (failure === null) return [];
    const message = `The last push to ${label} by ${service} failed at ${iso(failure.at)}: ${failure.why}. Nothing else is touched by it.`;
    const fix = "Where this stays so, turn push off and on again in that browser.";
    return [{ check, level: "warn", message, fix, fixable: false }];
  });
  if (all.length > 0 && found.length === 0) {
    const count = all.length === 1 ? "One browser is" : `${all.length} browsers are`;
    found.push({ check, level: "ok", message: `${count} subscribed to push.`, fix: null, fixable: false });
  }
  for (const { label, at } of push.ended()) {
    const message = `${label} is no longer subscribed to push: its push service said so at ${iso(at)}.`;
    found.push({ check, level: "info", message, fix: "Turn it on again in that browser.", fixable: false });
  }
  return found;
}

/** A device that may not do everything has a say in its own subscription only. */
function ownBrowser(all: readonly PushBrowser[], ask: ApiRequest<"pushRemove" | "pushTest">): PushBrowser {
  const found = findBrowser(all, ask);
  const { device } = ask;
  if (device === undefined || device.rights === "all" || found.device === device.id) return found;
  throw new HoldfastError("forbidden", `This device ${rightWords[device.rights]}; ${found.label} is another device.`, {
    hint: "Use a device with all rights.",
  });
}

function findBrowser(all: readonly PushBrowser[], { params }: ApiRequest<"pushRemove" | "pushTest">): PushBrowser {
  const found = all.find(({ id }) => id === params.id);
  if (found !== undefined) return found;
  throw new HoldfastError("not-found", `No browser ${params.id} is subscribed.`, {
    hint: "The dashboard's settings list them.",
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
