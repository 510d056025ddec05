/** The handlers of every operation that the daemon handles, composed of one file per noun of the contract. */
import type { Handlers } from "../ports/api.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { chatHandlers } from "./chat.ts";
import { daemonHandlers, type DaemonOptions } from "./daemon.ts";
import { Halt } from "./halt.ts";
import { permissionHandlers } from "./permission.ts";
import { projectHandlers } from "./project.ts";
import { promptHandlers } from "./prompt.ts";
import { pushHandlers } from "./push.ts";
import { sessionHandlers } from "./session.ts";
import { spawnHandlers } from "./spawn.ts";
import { streamHandlers } from "./stream.ts";
import { terminalHandlers } from "./terminal.ts";
import { trackerHandlers } from "./tracker.ts";
import { trashHandlers } from "./trash.ts";
import { worktreeHandlers } from "./worktree.ts";

export interface HandlerOptions extends DaemonOptions {
  /** Called after projects were added or removed, or their trust changed. */
  onProjects: () => void;
}

export function createHandlers(services: Services, loop: Loop, options: HandlerOptions): Handlers {
  const { tracking, push, readOnly } = options;
  const halt = new Halt(services, loop, options.shutDown);
  return {
    ...daemonHandlers(services, halt, options),
    ...sessionHandlers(services, loop, tracking),
    ...spawnHandlers(services, loop, { tracking, halt, readOnly }),
    ...promptHandlers(services, loop),
    ...chatHandlers(services, loop),
    ...permissionHandlers(services, loop),
    ...terminalHandlers(services),
    ...worktreeHandlers(services),
    ...projectHandlers(services, options.onProjects),
    ...trashHandlers(services, loop),
    ...trackerHandlers(services, loop, tracking),
    ...pushHandlers(push),
    ...streamHandlers(services),
  };
}
