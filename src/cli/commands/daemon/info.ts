import { build, version } from "../../../base/program.ts";
import type { InfoJson } from "../../../contract/wire.ts";
import { askInfo } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { findSettledDaemon, isReplaced } from "../../system/daemon/find-daemon.ts";
import { infoLines } from "../../render/daemon.ts";

/** A daemon that lives answers within milliseconds; one that is stopped or hangs never does. */
const deadlineMs = 2_000;

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [
    ["is it running, and where", "holdfast info"],
    ["its address, for a script", "holdfast info --json | jq -r .url"],
  ],
  daemon: "alone",
  async run(context, input) {
    const info = await readInfo(context);
    const replaced = isReplaced(info.build) ? { version, build } : null;
    if (input.flag("json")) context.json({ ...info, installed: { version, build } });
    else for (const line of infoLines(info, context.now(), replaced)) context.out(line);
  },
};

async function readInfo({ paths }: Context): Promise<InfoJson> {
  const found = await findSettledDaemon(paths);
  const nothing = { url: null, socket: null, home: paths.home, startedAt: null, managedBy: null };
  if (found.daemon === "none") return { state: "stopped", pid: null, version, build, ...nothing };
  if (found.daemon === "starting") return { state: "starting", pid: found.identity.pid, version, build, ...nothing };
  const { file } = found;
  const answer = await askInfo(file.socket, deadlineMs);
  if (answer !== null) return answer;
  const { pid, url, socket, managedBy } = file;
  const startedAt = new Date(file.startedAt).toISOString();
  return {
    state: "unresponsive",
    pid,
    version: file.version,
    build: file.build,
    url,
    publicUrls: [...(file.options.publicUrls ?? [])],
    socket,
    home: paths.home,
    startedAt,
    managedBy,
  };
}
