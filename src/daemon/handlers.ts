/** What the API calls: the handlers of the contract, and how it identifies and authorizes a caller. */
import { join } from "node:path";
import { createAuthorize } from "../api/authorize.ts";
import { createHandlers, type HandlerOptions as ApiOptions } from "../api/handlers.ts";
import { selfCheck } from "../api/doctor.ts";
import { createTail } from "../api/stream.ts";
import { createTerminals } from "../api/terminal.ts";
import type { Cgroups } from "../base/cgroup.ts";
import { openCallers } from "../supervisor/callers/callers.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { rememberVariables, type DaemonFacts } from "./published.ts";
import type { Start } from "./this-process.ts";

export type HandlerOptions = Pick<ApiOptions, "tracking" | "push"> & {
  daemon: DaemonFacts;
  cgroups: Pick<Cgroups, "state">;
};

export function openHandlers(start: Start, services: Services, loop: Loop, options: HandlerOptions) {
  const { dist, paths } = start;
  const { daemon, tracking, push, cgroups } = options;
  return {
    handlers: createHandlers(services, loop, {
      info: () => daemon.info(),
      shutDown: () => void setImmediate(() => void start.stop("requested")),
      readOnly: start.options.readOnly,
      onProjects: () => rememberVariables(services, paths.configFiles),
      configFile: paths.config,
      cli: [process.execPath, join(dist, "cli.cjs")],
      selfCheck: () => selfCheck(services, paths, cgroups.state),
      tracking,
      push,
    }),
    authorize: createAuthorize(services),
    callers: openCallers(services, services.capabilities, paths.tmuxSocket),
    tail: createTail(services, loop),
    terminals: createTerminals(services),
  };
}
