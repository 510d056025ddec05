/** What only the running daemon can say about itself, for `holdfast doctor`. */
import type { Paths } from "../base/paths.ts";
import type { FindingJson } from "../protocol/wire.ts";
import type { Parts } from "./parts.ts";

export function selfCheck(parts: Parts, paths: Paths): FindingJson[] {
  const problems = parts.store.verify();
  const database: FindingJson =
    problems.length === 0
      ? { check: "database", level: "ok", message: "The database is whole.", fix: null, fixable: false }
      : {
          check: "database",
          level: "fail",
          message: `The database is damaged: ${problems.slice(0, 5).join("; ")}`,
          fix: `Stop the daemon, keep a copy of ${paths.database}, and put the newest file of ${paths.backups} in its place.`,
          fixable: false,
        };
  const socket: FindingJson[] =
    paths.socketMoved === null
      ? []
      : [
          {
            check: "socket",
            level: "info",
            message: `${paths.socketMoved}; using ${paths.socket}.`,
            fix: "A shorter HOLDFAST_HOME puts the socket back below it.",
            fixable: false,
          },
        ];
  return [database, ...socket];
}
