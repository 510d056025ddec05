/** What the user answered about the holdfast.yaml files of repositories. */
import type { TrustPart, TrustState } from "../contract/trust.ts";

/** A file's parts that need trust, as they are now. */
export interface TrustQuestion {
  file: string;
  /** Of `parts`, in the order in which they are. */
  digest: string;
  parts: TrustPart[];
  /** Settings of the file that never count, whatever the user answers: one sentence each. */
  notices: string[];
}

export interface TrustAnswers {
  /** Never `none`: a file without parts that need trust is not asked about. */
  stateOf(file: string, digest: string): Exclude<TrustState, "none">;
  /** Changes with every answer. */
  revision(): string;
}
