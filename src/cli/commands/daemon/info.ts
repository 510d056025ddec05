import { build, version } from "../../../base/program.ts";
import type { InfoJson } from "../../../contract/daemon.ts";
import { readInfo } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry } from "../../command.ts";
import { findSettledDaemon, isReplaced } from "../../system/daemon/find-daemon.ts";
import { infoLines } from "../../render/daemon.ts";

/** A live daemon answers within milliseconds; a suspended or hanging one never does. */
const deadlineMs = 2_000;

export const command: CommandEntry = {
  examples: [
    ["show whether it is running, and where", "holdfast info"],
    ["get its address, for a script", "holdfast info --json | jq -r .url"],
  ],
  daemon: "alone",
  async run(context) {
    const info = await infoOf(context);
    const replaced = isReplaced(info.build) ? { version, build } : null;
    context.print({ ...info, installed: { version, build } }, infoLines(info, context.now(), replaced));
  },
};

async function infoOf({ paths }: Context): Promise<InfoJson> {
  const found = await findSettledDaemon(paths);
  const nothing = { url: null, socket: null, home: paths.home, startedAt: null, managedBy: null };
  if (found.daemon === "none") return { state: "stopped", pid: null, version, build, ...nothing };
  if (found.daemon === "starting") return { state: "starting", pid: found.identity.pid, version, build, ...nothing };
  const { file } = found;
  const answer = await readInfo(file.socket, deadlineMs);
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
