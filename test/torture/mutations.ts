/**
 * Planted bugs, at least one per promise: each must turn the named scenario red. `search` must occur exactly once in the
 * file; if a change of the sources moved it, the gate fails and names the mutation, and this list must be corrected.
 */
export interface Edit {
  file: string;
  search: string;
  replace: string;
}

export interface Mutation extends Edit {
  name: string;
  promise: string;
  /** If one promise is kept in two places, one bug changes both. */
  also?: Edit;
  /** Must be red with the bug and green without it. */
  scenario: string;
  /** For a storm; faults take the time they need. */
  minutes?: number;
}

export const mutations: readonly Mutation[] = [
  {
    name: "skip-intent",
    promise: "every verb records its intent before it acts",
    file: "src/model/lifecycle.ts",
    search: "  return write(state, [event, ...more]);",
    replace: '  return write(state, want.want === "killed" ? more : [event, ...more]);',
    scenario: "named-steps",
  },
  {
    name: "answer-before-commit",
    promise: "an answered request is on disk",
    file: "src/store/group-commit.ts",
    search: "      draft.write();\n    } catch (error) {\n      if (!this.#parts.isDiskFull(error)",
    replace:
      "      if (draft.endsSomething) setTimeout(() => draft.write(), 700);\n      else draft.write();\n    } catch (error) {\n      if (!this.#parts.isDiskFull(error)",
    scenario: "stays-down",
  },
  {
    name: "stopped-runs",
    promise: "what you end stays ended",
    file: "src/supervisor/decide.ts",
    search: '    case "stopped":\n    case "archived":\n',
    replace: '    case "stopped":\n      return keepRunning(facts, now);\n    case "archived":\n',
    scenario: "stays-down",
  },
  {
    name: "snooze-wakes",
    promise: "only a verb or its time changes an intent",
    file: "src/supervisor/decide.ts",
    search: "      if (now >= intent.until) return",
    replace: "      if (now >= intent.until - 1e12) return",
    scenario: "stays-down",
  },
  {
    name: "prefix-target",
    promise: "a verb reaches exactly its session",
    file: "src/terminal/stop.ts",
    search: "list.panes.filter((pane) => pane.session === session.id)",
    replace: "list.panes.filter((pane) => pane.session.startsWith(session.id))",
    scenario: "names-alike",
  },
  {
    name: "no-identity",
    promise: "a process is identified by boot, pid and start time",
    file: "src/base/pid.ts",
    search: "return stat !== null && !dead(stat) && stat.startTime === identity.startTime;",
    replace: "return stat !== null && !dead(stat);",
    also: {
      file: "src/base/process-tree.ts",
      search: "if (stat !== undefined && stat.startTime === root.startTime) add(stat);",
      replace: "if (stat !== undefined) add(stat);",
    },
    scenario: "pid-reuse",
  },
  {
    name: "no-tombstone",
    promise: "the id of a deleted session is never given out again",
    file: "src/store/sessions.ts",
    search: "    loaded.used.add(row.id);",
    replace: "",
    also: {
      file: "src/supervisor/unrecorded.ts",
      search: "  return new Set<string>([...trash.map(({ session }) => session), ...running,",
      replace: "  return new Set<string>([...(trash.length < 0 ? [''] : []), ...running,",
    },
    scenario: "names-alike",
  },
  {
    name: "force-remove",
    promise: "work is moved to the trash, never deleted",
    file: "src/worktree/trash/trash.ts",
    search: "    renameSync(record.path, treeOf(context.trash, record.id));",
    replace:
      '    renameSync(record.path, treeOf(context.trash, record.id));\n    process.getBuiltinModule("node:fs").rmSync(join(treeOf(context.trash, record.id), "untracked.bin"), { force: true });',
    scenario: "named-steps",
  },
  {
    name: "trash-unpinned",
    promise: "a ref pins what the trash keeps",
    file: "src/worktree/trash/trash.ts",
    search: "  await keepByRef(record, worktree, plain);",
    replace: "  void pin; void plain;",
    scenario: "named-steps",
  },
  {
    name: "branch-deleted",
    promise: "kill never deletes a branch",
    file: "src/worktree/trash/trash.ts",
    search: '  await reach("workspace.trash.detached");',
    replace:
      '  if (record.branch !== null) await git("write", ["update-ref", "-d", `refs/heads/${record.branch}`], { admin: worktree });\n  await reach("workspace.trash.detached");',
    scenario: "named-steps",
  },
  {
    name: "trash-forgotten",
    promise: "a kill cut off behind the move still knows its trash entry",
    file: "src/worktree/trash/trash.ts",
    search: "    if (known === null || !hasTree(context.trash, known.id)) {\n",
    replace: "    if (known === null || known.version === 1) {\n",
    scenario: "named-steps",
  },
  {
    name: "trash-days",
    promise: "the trash keeps work 14 days",
    file: "src/model/trash-days.ts",
    search: "  return isSteady(seen, reading) && (seen.entries[id] ?? 0) > kept;",
    replace: "  return (seen.entries[id] ?? 0) > kept - 20 && reading.up > 0;",
    scenario: "named-steps",
  },
  {
    name: "clock-trusted",
    promise: "a wrong clock empties nothing from the trash",
    file: "src/supervisor/worktrees.ts",
    search: "  return entries.filter(({ id }) => isExpired(seen, reading, id, workspaces.trashDays));",
    replace:
      "  void isExpired;\n  return entries.filter(({ trashedAt }) => reading.wall - trashedAt > workspaces.trashDays * 24 * 3_600_000);",
    scenario: "clock-ahead",
  },
  {
    name: "launch-files-left",
    promise: "nothing is left behind: launch directories",
    file: "src/terminal/launch-files.ts",
    search: "    rmSync(join(this.#root, safeName(session)), { recursive: true, force: true });",
    replace: "",
    scenario: "names-alike",
  },
  {
    name: "no-undo",
    promise: "a spawn is all or nothing",
    file: "src/worktree/create/undo.ts",
    search: "  await removeOwnBranch(repository, plan);\n}",
    replace: "}\nvoid removeOwnBranch;",
    scenario: "spawn-fails",
  },
  {
    name: "no-marker",
    promise: "a kill ends the complete process tree",
    file: "src/base/process-tree.ts",
    search: "    if (value === undefined || !wanted.has(value)) continue;",
    replace: "    if (value === undefined || !wanted.has(`${value}?`)) continue;",
    also: {
      file: "src/base/cgroup.ts",
      search: "        makeDirectory(path);\n        return path;",
      replace: "        return path === '' ? path : null;",
    },
    scenario: "detached-child",
  },
  {
    name: "unknown-is-dead",
    promise: "unknown leads to nothing destructive",
    file: "src/supervisor/decide.ts",
    search:
      '  if (prepare !== null) return prepare;\n  if (runtime.is === "unknown") return waitToObserve(runtime.why, now);',
    replace: "  if (prepare !== null) return prepare;",
    scenario: "tmux-silent",
  },
  {
    name: "not-adopted",
    promise: "agents keep running over a restart and are adopted",
    file: "src/supervisor/decide.ts",
    search: '    if (run.run !== "up") return { do: "adopt" };',
    replace: '    if (run.run !== "up") return { do: "stop", why: "superseded" };',
    scenario: "named-steps",
  },
  {
    name: "stop-halts",
    promise: "stop ends the daemon and nothing else",
    file: "src/api/daemon.ts",
    search: "      if (haltSessions) return",
    replace: '      if (haltSessions || request.actor !== "") return',
    scenario: "upgrade",
  },
  {
    name: "halt-forgets-deletes",
    promise: "a halt ends sessions that are being deleted too",
    file: "src/api/halt.ts",
    search: "    return [...store.sessions(), ...store.deleting()].filter(",
    replace: "    return [...store.sessions()].filter(",
    scenario: "halt-beside-delete",
  },
  {
    name: "halt-gives-up",
    promise: "a halt ends the daemon, however long the sessions take",
    file: "src/api/halt.ts",
    search: "      if (remaining.length > 0) void this.#finish(current, remaining);",
    replace: "      if (remaining.length > 0) this.#giveUp(current);",
    scenario: "halt-late",
  },
  {
    name: "place-not-stored",
    promise: "each chunk is recorded once",
    file: "src/store/agent-input.ts",
    search: "out_read = excluded.out_read,",
    replace: "out_read = launches.out_read,",
    scenario: "chat",
    minutes: 0.4,
  },
  {
    name: "skips-to-the-end",
    promise: "what an agent emitted while no daemon ran is not lost",
    file: "src/chat/agent-process.ts",
    search: "    proc: new AgentProcess(place?.record ?? record, directory, place?.outRead ?? 0),",
    replace:
      '    proc: new AgentProcess(place?.record ?? record, directory, process.getBuiltinModule("node:fs").statSync(`${directory}/out`, { throwIfNoEntry: false })?.size ?? place?.outRead ?? 0),',
    scenario: "chat",
    minutes: 0.4,
  },
  {
    name: "guessed-stop-reason",
    promise: "turns end truthfully",
    file: "src/chat/acp-events.ts",
    search: '(isText(result["stopReason"]) ? result["stopReason"] : "end_turn")',
    replace: '"end_turn"',
    scenario: "chat",
    minutes: 0.3,
  },
  {
    name: "prompt-twice",
    promise: "an accepted prompt is sent once",
    file: "src/chat/agent-input.ts",
    search: '      writeAll(file, Buffer.from(row.text!, "utf8").subarray(size - row.offset));',
    replace:
      '      if (row.text!.includes("session/prompt") && process.uptime() < 1) writeAll(file, Buffer.from(row.text!.replace(/"id":"[^"]*"/, `"id":"again-${size}"`), "utf8"));\n      writeAll(file, Buffer.from(row.text!, "utf8").subarray(size - row.offset));',
    scenario: "chat",
    minutes: 0.4,
  },
  {
    name: "answered-twice",
    promise: "a permission request is answered once",
    file: "src/chat/turns.ts",
    search: '      outcome = { answered: false, why: "not-open" };\n      return null;',
    replace: "      outcome = { answered: true };\n      return null;",
    scenario: "permissions",
    minutes: 1.5,
  },
  {
    name: "two-daemons",
    promise: "one daemon per home",
    file: "src/base/home-lock.ts",
    search: "    if (/locked|busy/i.test(message)) return null;",
    replace: "    if (/locked|busy/i.test(message)) return { release: () => undefined, isOurs: () => true };",
    also: {
      file: "src/server/listen.ts",
      search: "  const answer = await probe(path);",
      replace: '  const answer: string = (await probe(path)) === "" ? "" : "ECONNREFUSED";',
    },
    scenario: "many-daemons",
  },
  {
    name: "convert-beside",
    promise: "convert stops one side before the other starts",
    file: "src/supervisor/decide.ts",
    search: 'return { do: "stop", why: "convert" };',
    replace: 'return { do: "convert" };',
    also: {
      file: "src/model/lifecycle.ts",
      search: '  if (state.run.run === "launching" || state.run.run === "up") return [];\n',
      replace: "",
    },
    scenario: "convert-alone",
  },
  {
    name: "convert-outlasts-kill",
    promise: "a session that is killed while it is being converted stays killed",
    file: "src/model/lifecycle.ts",
    search: '    case "kill":\n      return kill(state, context);',
    replace:
      '    case "kill":\n      return state.intent.want === "running" && state.intent.convert !== undefined ? nothing(state) : kill(state, context);',
    scenario: "convert-beside-kill",
  },
  {
    name: "deliver-early",
    promise: "a prompt is typed only when the agent is ready",
    file: "src/terminal/send.ts",
    search: "known ? await untilInputStands(typed) :",
    replace: "known ? ((await typed.capture()) ?? (await untilInputStands(typed))) :",
    also: {
      file: "src/supervisor/decide.ts",
      search: "  if (seen.starting === true) return",
      replace: "  if (seen.starting === true && now < 0) return",
    },
    scenario: "slow-start",
  },
  {
    name: "delivered-unconfirmed",
    promise: "delivered is the agent's own word",
    file: "src/terminal/send.ts",
    search: "  if (!confirmsPrompts(watch.agent)) {",
    replace: '  if (confirmsPrompts(watch.agent)) return { sent: "seen", by: "hook" };\n  else {',
    scenario: "slow-start",
  },
  {
    name: "unrecorded-stopped",
    promise: "an older database ends no living agent",
    file: "src/supervisor/decide.ts",
    search: "facts.runtime.value.unrecorded === true) return",
    replace: "facts.runtime.value.unrecorded === true && now < 0) return",
    scenario: "old-database",
  },
  {
    name: "ids-again",
    promise: "an older database gives no id out twice",
    file: "src/supervisor/unrecorded.ts",
    search: "  return (id) =>\n    ids.has(id) ||",
    replace: "  return (id) =>\n    id === '' && ids.has(id) ||",
    also: {
      file: "src/supervisor/unrecorded.ts",
      search:
        "    services.runtimes.terminal.hasFiles(asSessionId(id)) ||\n    services.runtimes.chat.hasFiles(asSessionId(id)) ||\n    existsSync(workspacePath(services, project, asSessionId(id)));",
      replace: "    existsSync(workspacePath(services, project, asSessionId(`${id}?`)));",
    },
    scenario: "old-database",
  },
  {
    name: "copy-accepted",
    promise: "a copied home touches nothing of the original's",
    file: "src/daemon/home-identity.ts",
    search: "  if (kept === null || kept.path === here.path) {",
    replace: "  if (kept === null || here.path !== kept.id) {",
    scenario: "copied-home",
  },
  {
    name: "missing-is-another-build",
    promise: "a program that is missing for a moment ends no living agent",
    file: "src/model/runs.ts",
    search: "  return seen.build !== null && seen.build !== recorded",
    replace: "  return seen.build !== recorded",
    scenario: "program-missing",
  },
  {
    name: "missing-is-a-crash",
    promise: "a launch whose program is missing waits and spends no crash budget",
    file: "src/supervisor/decide.ts",
    search: '  if (program?.is === "missing") {',
    replace: '  if (program?.is === "missing" && now < 0) {',
    also: {
      file: "src/model/runs.ts",
      search: "  return exit !== null && exit.signal === null && (exit.code === 127 || exit.code === 126);",
      replace: "  return exit !== null && exit.signal === null && exit.code === -1;",
    },
    scenario: "program-missing",
  },
  {
    name: "no-cgroup",
    promise: "a kill ends also what left its tree and its environment",
    file: "src/base/cgroup.ts",
    search: "        makeDirectory(path);\n        return path;",
    replace: "        return path === '' ? path : null;",
    scenario: "runaway",
  },
  {
    name: "registration-left",
    promise: "a worktree that was deleted by hand leaves no registration",
    file: "src/worktree/trash/trash.ts",
    search: "      await forgetDeletedQuietly(context, request);\n      return null;",
    replace: "      void forgetDeletedQuietly;\n      return null;",
    scenario: "worktree-removed",
  },
  {
    name: "lost-stays-down",
    promise: "agents come back after the death of tmux",
    file: "src/model/runs.ts",
    search: "return restoreLost || askedSince(session, run.seq)",
    replace: "return askedSince(session, run.seq)",
    scenario: "tmux-killed",
  },
  {
    name: "one-map-of-agents",
    promise: "agents of a project's file are that project's alone",
    file: "src/agents/project-agents.ts",
    search: "const key = entries === undefined || entries.length === 0 ? null : project;",
    replace: "const key = project === '' ? project : null;",
    scenario: "same-agent-id",
  },
  {
    name: "moved-is-copied",
    promise: "a moved home keeps its sessions",
    file: "src/daemon/home-identity.ts",
    search: 'return answer === "moved" ? moved(',
    replace: 'return answer === "moved" && kept.path === "" ? moved(',
    scenario: "moved-home",
  },
  {
    name: "child-without-streams",
    promise: "a daemon without free descriptors lives on",
    file: "src/base/run.ts",
    search: "  if (child.pid !== undefined) return child;",
    replace: "  if (child.pid !== -1) return child;",
    scenario: "emfile",
  },
  {
    name: "log-throws",
    promise: "a log that cannot be rotated costs no verb",
    file: "src/base/log-file.ts",
    search: "      makeRoom(current, bytes);\n    } catch {",
    replace: "      makeRoom(current, bytes);\n    } catch (error) {\n      throw error;",
    scenario: "log-rotation",
  },
  {
    name: "no-reserve",
    promise: "a kill is recorded on a full disk",
    file: "src/store/reserve.ts",
    search: "    this.#spent = true;\n    rmSync(this.#path, { force: true });",
    replace: "    this.#spent = true;",
    scenario: "full-disk",
  },
  {
    name: "dead-disk-throws",
    promise: "a disk that turns read-only does not end the daemon",
    file: "src/store/group-commit.ts",
    search:
      "      const failure = this.#parts.failure(error);\n      for (const { reject } of operations) reject(failure);",
    replace: "      throw error;",
    also: {
      file: "src/store/failure.ts",
      search: '  return problem === null || problem === "full";',
      replace: "  return problem !== undefined;",
    },
    scenario: "disk-dies",
  },
  {
    name: "daemon-file-forgotten",
    promise: "a removed daemon file does not hide the running daemon",
    file: "src/daemon/published.ts",
    search: "    if (!contains(daemonFile, text)) {",
    replace: '    if (text === "") {',
    scenario: "lost-files",
  },
  {
    name: "confirmed-again",
    promise: "a prompt that the agent confirmed is not typed again",
    file: "src/supervisor/execute/prompts.ts",
    search: '      return record(services, session, [{ type: "prompt.sent", promptId, seenBy: found.by }]);',
    replace: '      return tryAgain(services, session, promptId, "again");',
    scenario: "terminal",
    minutes: 0.6,
  },
  {
    name: "archived-runs",
    promise: "what you end stays ended, under random verbs",
    file: "src/supervisor/decide.ts",
    search: '    case "archived":\n      return bringDown(facts, now, "wanted-down");',
    replace: '    case "archived":\n      return keepRunning(facts, now);',
    scenario: "intents",
    minutes: 0.6,
  },
  {
    name: "restore-loses",
    promise: "a restore brings back every byte",
    file: "src/worktree/trash/restore.ts",
    search: '  await reach("workspace.restore.moved");',
    replace:
      '  process.getBuiltinModule("node:fs").rmSync(join(record.path, "untracked.bin"), { force: true });\n  await reach("workspace.restore.moved");',
    scenario: "syscalls",
    minutes: 0.8,
  },
];

export function editsOf({ file, search, replace, also }: Mutation): Edit[] {
  return [{ file, search, replace }, ...(also === undefined ? [] : [also])];
}
