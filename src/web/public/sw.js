// Lets the page open immediately, and while the daemon is down. Only files of the page's own build are cached: names
// under /assets/ contain a content hash, so an old file is never mistaken for a new one; the page itself comes from the
// daemon whenever it responds. Requests under /api are never intercepted.
const cacheName = "holdfast-shell-v1";
const pageKey = "/";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const others = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== cacheName).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(others());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/api/") || url.pathname === "/openapi.json") return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (url.pathname.startsWith("/assets/")) event.respondWith(asset(request));
});

async function page(request) {
  const cache = await caches.open(cacheName);
  try {
    const answer = await fetch(request);
    if (answer.ok) {
      await cache.put(pageKey, answer.clone());
      await dropUnused(cache);
    }
    return answer;
  } catch (error) {
    const kept = await cache.match(pageKey);
    if (kept === undefined) throw error;
    return kept;
  }
}

async function asset(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

// Otherwise files of older builds would pile up. A tab that still shows an old page has loaded what it needs, or is asked
// to reload.
const mostKept = 80;
async function dropUnused(cache) {
  const assets = (await cache.keys()).filter((request) => new URL(request.url).pathname !== pageKey);
  for (const old of assets.slice(0, Math.max(0, assets.length - mostKept))) await cache.delete(old);
}

// The daemon's notifications, sent through the browser's push service, with title, reason and session.
self.addEventListener("push", (event) => {
  event.waitUntil(pushed(event.data));
});

// While this browser has push, the page sends its own notifications here too: both report the same things.
self.addEventListener("message", (event) => {
  if (event.data?.notify !== undefined) event.waitUntil(present(event.data.notify));
});

// WebKit revokes the permission of a page that receives a push and shows nothing.
const mustShow = /^(?!.*(Chrom|Android|Firefox)).*Safari/.test(navigator.userAgent);

async function pushed(data) {
  const call = read(data);
  // Includes tabs that were opened before this worker was installed.
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  // A visible page shows it already. A test must always be shown.
  const seen = open.some(({ visibilityState }) => visibilityState === "visible");
  if (!seen || mustShow || call.test === true) await present(call);
}

function read(data) {
  try {
    const { title, text, session, test } = data.json();
    return { title: String(title), text: String(text), session, test };
  } catch {
    return { title: "Holdfast", text: "A session needs your attention.", session: undefined };
  }
}

// A page and a push that report the same thing do so within seconds: the second one silently replaces the first.
const sameWithinMs = 15_000;
// One at a time: Chromium loses a notification that is listed while it is being shown.
let presenting = Promise.resolve();
function present(call) {
  const show = () => showOne(call);
  presenting = presenting.then(show, show);
  return presenting;
}

async function showOne({ title, text, session }) {
  const tag = `holdfast:${session ?? "all"}`;
  const [shown] = await self.registration.getNotifications({ tag });
  const renotify = !(Date.now() - shown?.data?.at < sameWithinMs);
  const data = { session, at: Date.now() };
  await self.registration.showNotification(title, { body: text, tag, renotify, icon: "/icon-192.png", data });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const session = event.notification.data?.session;
  const show = async () => {
    const [open] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (open === undefined) {
      await self.clients.openWindow(session === undefined ? "/" : `/s/${session}`);
      return;
    }
    await open.focus();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a client of this worker has one origin
    open.postMessage({ open: session });
  };
  event.waitUntil(show());
});
