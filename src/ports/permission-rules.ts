/** Where permission rules come from: the user's own config.yaml, and nowhere else. */
import type { JudgedQuestion, RuleAnswer } from "../model/acp.ts";
import type { SessionState } from "../model/session.ts";
import type { PermissionRule } from "../contract/permission-rules.ts";

export interface ConfiguredRule extends PermissionRule {
  /** Where it is in the file. */
  line: number;
}

export type LoadedRules =
  | { ok: true; file: string; rules: ConfiguredRule[] }
  /** The file cannot be read or has a mistake: no rule of it holds. */
  | { ok: false; file: string; problem: string };

export interface RuleSource {
  /** As the file is now. */
  load(): Promise<LoadedRules>;
}

export interface RuleBook {
  /** The rules as the file has them now; a file that cannot be read has none. */
  refresh(): Promise<LoadedRules>;
  /** Decides by the rules of the last `refresh`. Null leaves the question to the user. */
  judge(session: SessionState, question: JudgedQuestion): RuleAnswer | null;
  /** Why no rule holds; null where the file is good. */
  problem(): string | null;
}
