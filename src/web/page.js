/**
 * The page until the dashboard proper: it logs in by the one-time link (or the passphrase) and lists the sessions, live.
 * The token is kept for this origin only; cookies would also be sent to other programs on this machine.
 */
const tokenKey = "holdfast:token";
const main = document.getElementById("main");
const connection = document.getElementById("connection");
const sessions = new Map();
let cursor = null;
let retryMs = 250;

const code = new URLSearchParams(location.hash.slice(1)).get("login");
if (code !== null) history.replaceState(null, "", location.pathname);
void begin(code);

async function begin(loginCode) {
  if (loginCode !== null) {
    const failure = await login({ code: loginCode });
    if (failure !== null) return showLogin(failure);
  }
  if (localStorage.getItem(tokenKey) === null) return showLogin(null);
  follow();
}

/** Null when it worked, else the sentence to show. */
async function login(body) {
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const json = await answer.json();
    if (!answer.ok) return [json.error.message, json.error.hint].filter(Boolean).join(" ");
    localStorage.setItem(tokenKey, json.token);
    return null;
  } catch {
    return "The daemon could not be reached. Is it running? (holdfast start)";
  }
}

function showLogin(failure) {
  connection.textContent = "Not logged in";
  const form = element("form", "card");
  const why = element("p");
  why.setAttribute("role", "alert");
  why.textContent = failure ?? "This browser is not logged in.";
  const how = element("p");
  how.append(
    "Get a fresh link with ",
    Object.assign(element("code"), { textContent: "holdfast dashboard" }),
    ", or enter the passphrase if one is set.",
  );
  const label = element("label");
  label.textContent = "Passphrase ";
  const input = Object.assign(document.createElement("input"), {
    type: "password",
    name: "passphrase",
    autocomplete: "current-password",
  });
  label.append(input);
  const button = Object.assign(document.createElement("button"), { textContent: "Log in" });
  form.append(why, how, label, button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const failed = await login({ passphrase: input.value });
    if (failed !== null) return showLogin(failed);
    follow();
  });
  main.replaceChildren(form);
}

function follow() {
  const token = localStorage.getItem(tokenKey);
  const after = cursor === null ? "" : `?after=${cursor}`;
  const socket = new WebSocket(`ws://${location.host}/api/stream${after}`, ["holdfast.v1", `holdfast.token.${token}`]);
  socket.addEventListener("message", ({ data }) => {
    retryMs = 250;
    take(JSON.parse(data));
  });
  socket.addEventListener("close", () => void reconnect(token));
}

async function reconnect(token) {
  connection.textContent = "Reconnecting …";
  try {
    const answer = await fetch("/api/info", { headers: { authorization: `Bearer ${token}` } });
    if (answer.status === 401) {
      localStorage.removeItem(tokenKey);
      return showLogin("This login is no longer valid.");
    }
  } catch {
    // The daemon is down; it is tried again.
  }
  setTimeout(follow, retryMs);
  retryMs = Math.min(retryMs * 2, 5_000);
}

function take(frame) {
  if (frame.frame === "hello") connection.textContent = `Connected, version ${frame.version}`;
  else {
    cursor = frame.cursor;
    if (frame.frame === "snapshot") sessions.clear();
    for (const event of frame.events ?? [])
      if (event.type === "session.intent" && event.want.want === "deleted") sessions.delete(event.session);
    for (const session of frame.sessions) sessions.set(session.id, session);
    render();
  }
}

function render() {
  const byProject = Map.groupBy([...sessions.values()], (session) => session.project);
  if (byProject.size === 0) {
    const empty = element("p", "card");
    empty.append(
      "No sessions yet. Start one with ",
      Object.assign(element("code"), { textContent: "holdfast spawn" }),
      " in a registered repository.",
    );
    main.replaceChildren(empty);
    return;
  }
  const order = new Intl.Collator("en", { numeric: true }).compare;
  main.replaceChildren(
    ...[...byProject]
      .sort(([a], [b]) => order(a, b))
      .flatMap(([project, list]) => {
        const heading = Object.assign(element("h2"), { textContent: project });
        const items = element("ul");
        items.append(...list.sort((a, b) => order(a.id, b.id)).map(item));
        return [heading, items];
      }),
  );
}

function item(session) {
  const row = element("li");
  const cell = (name, text) => Object.assign(element("span", name), { textContent: text });
  const status = cell("status", session.status);
  status.dataset.status = session.status;
  row.append(
    cell("id", session.id),
    cell("title", session.title),
    status,
    cell("branch", `${session.agent} · ${session.branch ?? ""}`),
  );
  if (session.reason !== null) row.append(cell("reason", session.reason));
  return row;
}

function element(tag, className = "") {
  return Object.assign(document.createElement(tag), { className });
}
