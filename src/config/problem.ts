/** What is wrong in a configuration file, and where. */
import { basename } from "node:path";
import { HoldfastError } from "../contract/error.ts";

export interface Problem {
  file: string;
  /** From 1, as editors count. */
  line: number;
  column: number;
  message: string;
  hint: string | null;
}

/** `holdfast.yaml:12:5: unknown key "promt" (did you mean "prompt"?)` */
export function formatProblem(problem: Problem, name: string = basename(problem.file)): string {
  const hint = problem.hint === null ? "" : ` (${problem.hint})`;
  return `${name}:${problem.line}:${problem.column}: ${problem.message}${hint}`;
}

/** The error that a command answers with: every problem, one a line, below the file's path. */
export function problemsError(problems: readonly Problem[]): HoldfastError {
  const file = problems[0]?.file ?? "";
  const lines = problems.map((problem) => `  ${formatProblem(problem)}`);
  const many = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return new HoldfastError("invalid", `${many} in ${file}:\n${lines.join("\n")}`, {
    hint: "Correct the file and try again; nothing was changed.",
  });
}

export function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column || (a.message < b.message ? -1 : 1);
}
