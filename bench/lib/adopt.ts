/**
 * Opens a store and finds its live chat sessions, as a starting daemon does, with cold code and no caches. Prints the
 * duration of each step.
 */
import { readdirSync } from "node:fs";
import { openChatRuntime, openChatStore } from "./chat-home.ts";

const [directory = ""] = process.argv.slice(2);
const descriptors = (): number => readdirSync("/proc/self/fd").length;
const begun = performance.now();
const store = openChatStore(directory);
const sessions = store.sessions();
const opened = performance.now();
const before = descriptors();
const cpuBefore = process.cpuUsage();
const runtime = openChatRuntime(directory, store);
const found = await runtime.observe(sessions);
const observed = performance.now();
const { user, system } = process.cpuUsage(cpuBefore);
const alive = [...found.values()].filter(({ seen }) => seen.is === "known" && seen.value.agent.alive).length;
// The first check of all files follows immediately.
await new Promise((resolve) => setTimeout(resolve, 50));
const kept = descriptors() - before;
await runtime.close();
store.close();
const [openMs, observeMs, cpuMs] = [opened - begun, observed - opened, (user + system) / 1000];
process.stdout.write(JSON.stringify({ alive, openMs, observeMs, cpuMs, kept }));
