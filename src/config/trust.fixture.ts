/** Answers about repositories' files for tests: all of them trusted, unless a test says otherwise. */
import type { TrustAnswers } from "../ports/trust.ts";

export const trustsAll: TrustAnswers = { stateOf: () => "trusted", revision: () => "all" };
export const trustsNone: TrustAnswers = { stateOf: () => "undecided", revision: () => "none" };
