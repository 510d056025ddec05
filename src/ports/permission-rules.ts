/** Where permission rules come from: the user's own config.yaml, and nowhere else. */
import type { PermissionRule } from "../protocol/permission-rules.ts";

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
