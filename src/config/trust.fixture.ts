/** Answers about repositories' files for tests: all of them trusted, unless a test says otherwise. */
import type { TrustDecisions } from "../ports/trust.ts";

export const trustsAll: TrustDecisions = { stateOf: () => "trusted", revision: () => "all" };
export const trustsNone: TrustDecisions = { stateOf: () => "undecided", revision: () => "none" };
