/** Every single fault, each with its own home. */
import { clockAhead, clockBehind } from "./faults/clock.ts";
import {
  alike,
  convertAlone,
  convertBesideKill,
  detachedChild,
  manyDaemons,
  namedSteps,
  pidReuse,
  sameAgentId,
  spawnFails,
  staysDown,
  tmuxSilent,
} from "./faults/drills.ts";
import { copiedHome, lostFiles, lostWal, movedHome, oldDatabase } from "./faults/homes.ts";
import { diskDies, emfile, fullDisk, logRotation } from "./faults/machine.ts";
import {
  haltBesideDelete,
  haltLate,
  programMissing,
  runaway,
  tmuxKilled,
  upgrade,
  workerRemoved,
  worktreeRemoved,
} from "./faults/processes.ts";
import { slowStart } from "./faults/typing.ts";
import type { Scenario } from "./report.ts";

export const faults: readonly Scenario[] = [
  namedSteps,
  staysDown,
  alike,
  pidReuse,
  tmuxSilent,
  spawnFails,
  manyDaemons,
  detachedChild,
  convertAlone,
  convertBesideKill,
  sameAgentId,
  clockAhead,
  clockBehind,
  copiedHome,
  movedHome,
  oldDatabase,
  lostWal,
  lostFiles,
  emfile,
  logRotation,
  fullDisk,
  diskDies,
  tmuxKilled,
  programMissing,
  runaway,
  haltBesideDelete,
  haltLate,
  worktreeRemoved,
  workerRemoved,
  upgrade,
  slowStart,
];
