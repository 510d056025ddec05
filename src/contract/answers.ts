/** Removed once every importer uses `Output`. */
import type { OperationName, Output } from "./operations.ts";
export type Answers = { [N in OperationName]: Output<N> };
