/** The user's answers about the holdfast.yaml files of repositories. */
import type { TrustPart, TrustState } from "../contract/trust.ts";

/** The current parts of a file that need trust. */
export interface TrustQuestion {
  file: string;
  /** Digest of `parts` in order. */
  digest: string;
  parts: TrustPart[];
  /** Settings that are always ignored: one sentence each. */
  notices: string[];
}

export interface TrustDecisions {
  /** Never `none`: files without such parts need no answer. */
  stateOf(file: string, digest: string): Exclude<TrustState, "none">;
  /** Changes with every answer. */
  revision(): string;
}
