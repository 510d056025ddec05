/**
 * The record file of a chat worker, and the names in its directories. `<workers>/<session>/record.json` is written by the
 * daemon before the launch and whenever something is learnt; the keeper only looks whether it is there and names its launch.
 */
import type { LaunchId, SessionId } from "./ids.ts";

export interface RecordedProcess {
  pid: number;
  startTime: string;
}

export interface AgentRecord {
  version: 1;
  session: SessionId;
  launch: LaunchId;
  bootId: string;
  keeper: RecordedProcess | null;
  feeder: RecordedProcess | null;
  agent: RecordedProcess | null;
  /** In the environment of everything that the launch starts. */
  marker: string;
  command: string[];
  build: string;
  agentSessionId: string | null;
  restarting: boolean;
  /** Directory of the launch's cgroup; missing where it has none. */
  cgroup?: string | null;
  /** Only in the record of a contained launch: the first process of its pid namespace, once it is known. */
  contained?: { first: RecordedProcess | null };
  /** `out` is being cut at this byte, which was read; written before the cut and taken back with the new offset. */
  truncating?: Truncation | null;
}

export interface Truncation {
  at: number;
  /** Of the last bytes before `at`: if they are still there, the file was not truncated yet and has not grown again. */
  crc: number;
}

export const recordFile = "record.json";
/** The last stderr of a session's agents, kept when a launch's directory goes. */
export const keptErrors = "err.last";

/** In the environment of the agent and of everything it starts; its value is the launch id. */
export const launchMarker = "HOLDFAST_LAUNCH";
