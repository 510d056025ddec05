/** What a check found. `mend` is run by --fix; after it the finding counts as mended. */
import type { FindingJson } from "../../contract/wire.ts";

export interface Finding extends FindingJson {
  mend?: () => void;
}

export function finding(
  check: string,
  level: FindingJson["level"],
  message: string,
  { fix = null, mend }: { fix?: string | null; mend?: () => void } = {},
): Finding {
  return { check, level, message, fix, fixable: mend !== undefined, ...(mend === undefined ? {} : { mend }) };
}

export function withoutMend({ check, level, message, fix, fixable }: Finding): FindingJson {
  return { check, level, message, fix, fixable };
}
