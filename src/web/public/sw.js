// The page opens at once, and opens at all while the daemon is down. Only files of the page's own build are kept: those
// under /assets/ have a hash of their content in their name, so that an old one is never taken for a new one; the page
// itself is taken from the daemon whenever that answers. Nothing under /api is ever looked at.
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

// Files of older builds would else pile up. A tab that still shows an old page has loaded what it needs, or is told to
// reload.
const mostKept = 80;
async function dropUnused(cache) {
  const assets = (await cache.keys()).filter((request) => new URL(request.url).pathname !== pageKey);
  for (const old of assets.slice(0, Math.max(0, assets.length - mostKept))) await cache.delete(old);
}

// What the daemon notifies of, sent by way of the browser's push service. It says title, reason and session.
self.addEventListener("push", (event) => {
  event.waitUntil(pushed(event.data));
});

// The page asks for its own notifications here while this browser gets pushes, which tell of the same things.
self.addEventListener("message", (event) => {
  if (event.data?.notify !== undefined) event.waitUntil(present(event.data.notify));
});

// WebKit takes the permission from a page that gets a push and shows nothing.
const mustShow = /^(?!.*(Chrom|Android|Firefox)).*Safari/.test(navigator.userAgent);

async function pushed(data) {
  const call = read(data);
  // Also a tab that was opened before this worker was there.
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  // Who looks at the page reads it there. A test is there to be seen.
  const seen = open.some(({ visibilityState }) => visibilityState === "visible");
  if (!seen || mustShow || call.test === true) await present(call);
}

function read(data) {
  try {
    const { title, text, session, test } = data.json();
    return { title: String(title), text: String(text), session, test };
  } catch {
    return { title: "Holdfast", text: "A session needs a look.", session: undefined };
  }
}

// A page and a push that tell of one thing do so within seconds: the second one then takes the first one's place silently.
const sameWithinMs = 15_000;
// One at a time: Chromium forgets a notification that is listed while it is being shown.
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
