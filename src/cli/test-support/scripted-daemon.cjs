// Stands in for the daemon's bundle in tests of start and stop: does what <home>/script says, and notes what it was given.
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const home = process.env.HOLDFAST_HOME;
const script = fs.existsSync(path.join(home, "script")) ? fs.readFileSync(path.join(home, "script"), "utf8") : "ready";
const stat = fs.readFileSync("/proc/self/stat", "latin1");
const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
const given = {
  pid: process.pid,
  cwd: process.cwd(),
  env: process.env,
  argv: process.argv.slice(2),
  session: Number(fields[3]),
  file: __filename,
};
fs.writeFileSync(path.join(home, "given.json"), JSON.stringify(given));

function report(message) {
  fs.writeSync(3, `${JSON.stringify(message)}\n`);
  fs.closeSync(3);
}

if (script === "crash") {
  console.error("it went wrong early");
  process.exit(7);
}
if (script === "failed") {
  report({
    report: "failed",
    code: "conflict",
    message: "Port 1 is taken by another program.",
    hint: "Choose another one.",
  });
  process.exit(1);
}

if (script === "locked") {
  try {
    fs.closeSync(fs.openSync(path.join(home, "taken"), "wx"));
  } catch {
    report({ report: "already-running" });
    process.exit(0);
  }
}

// The one before is still going: it holds the home once more and is gone then.
if (script === "going") {
  fs.writeFileSync(path.join(home, "script"), "ready");
  report({ report: "already-running" });
  process.exit(0);
}

const socket = path.join(home, "run", "daemon.sock");
fs.rmSync(socket, { force: true });
const bootId = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const options = JSON.parse(fs.readFileSync(path.join(home, "launch.json"), "utf8"));
const file = {
  pid: process.pid,
  startTime: fields[19],
  bootId,
  version: "1",
  build: "1",
  url: "http://127.0.0.1:9",
  socket,
  startedAt: Date.now(),
  managedBy: null,
  options,
};
const server = http.createServer((request, response) => {
  const stopping = request.url === "/api/daemon/stop";
  response.end(JSON.stringify(stopping ? { kept: 3, halted: [], remaining: [] } : []));
  // A moment later, as a real one: whoever stops it must wait until it is gone.
  if (stopping) response.on("close", () => setTimeout(() => process.exit(0), 50));
});
const ready = () => {
  fs.writeFileSync(path.join(home, "daemon.json"), JSON.stringify(file));
  report({ report: "ready", pid: process.pid, url: file.url, notes: ["a note"] });
};
if (script === "dies-ready") {
  ready();
  process.exit(70);
}
if (script === "no-socket") ready();
else server.listen(socket, ready);
if (script === "stubborn") process.on("SIGTERM", () => undefined);
setInterval(() => undefined, 1000);
