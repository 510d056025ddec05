/** Where permission rules come from: the user's own config.yaml, and nowhere else. */
import type { JudgedRequest, RuleAnswer } from "../model/acp.ts";
import type { SessionState } from "../model/session.ts";
import type { PermissionRule } from "../contract/permission-rules.ts";

export interface ConfiguredRule extends PermissionRule {
  /** Its line in the file. */
  line: number;
}

export type LoadedRules =
  | { ok: true; file: string; rules: ConfiguredRule[] }
  /** The file is unreadable or wrong: none of its rules apply. */
  | { ok: false; file: string; problem: string };

export interface RuleSource {
  /** Reads the current file. */
  load(): Promise<LoadedRules>;
}

export interface RuleBook {
  /** Loads the current rules; an unreadable file has none. */
  refresh(): Promise<LoadedRules>;
  /** Decides by the rules of the last `refresh`. Null leaves the permission request to the user. */
  judge(session: SessionState, request: JudgedRequest): RuleAnswer | null;
  /** Why no rule applies; null if the file is valid. */
  problem(): string | null;
}
