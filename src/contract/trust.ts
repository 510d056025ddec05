/** Trust in a repository's holdfast.yaml: the parts that need it and the answers the user may give. */

/**
 * `none`: the file has no part that needs trust. `undecided`: never answered. `changed`: another version was answered.
 * Only `none` and `trusted` let the complete file apply.
 */
export const trustStates = ["none", "trusted", "undecided", "changed", "declined"] as const;
export type TrustState = (typeof trustStates)[number];

/** One setting that runs something, sends something or changes what agents see. */
export interface TrustPart {
  /** Its place in the file, such as `projects.my-app.postCreate`. */
  key: string;
  /** Text as it is; anything else as JSON. */
  value: string;
}

/** Whether the user still has to be asked. */
export function isOpenQuestion(state: TrustState): boolean {
  return state === "undecided" || state === "changed";
}

/** Whether the parts that need trust are off. */
export function isOff(state: TrustState): boolean {
  return state !== "none" && state !== "trusted";
}

const effects: readonly (readonly [RegExp, string])[] = [
  [/\.postCreate$/, "runs in every new worktree"],
  [/\.env\.[^.]+$/, "sets this variable for agents"],
  [/passEnv$/, "passes this variable of yours to agents"],
  [/\.symlinks$/, "links this into worktrees"],
  [/\.copy$/, "copies this into worktrees"],
  [/contain$/, "runs agents in the repository's dev container"],
  [/contain\.read$/, "lets contained agents read this path"],
  [/contain\.write$/, "lets contained agents read and write this path"],
  [/\.tracker$/, "reads issues there, with your token"],
  [/\.reactions\./, "acts on its own"],
  [/^agents\./, "decides which program an agent runs, and how"],
  [/agent$/, "picks the agent of new sessions"],
];

/** What a part does, in a few words. */
export function effectOf(key: string): string {
  return effects.find(([pattern]) => pattern.test(key))?.[1] ?? "changes how sessions run";
}

/** Why a session runs with defaults, and the command that changes it; null while all of the file counts. */
export function whyDefaults(project: string, state: TrustState): string | null {
  if (!isOff(state)) return null;
  const why = state === "changed" ? "changed since you answered" : "is not trusted";
  return `The holdfast.yaml of ${project} ${why}, so this session uses defaults. Review it: holdfast project trust ${project}`;
}

/** As it is if all of it can be seen; else as JSON with every hidden character written out. */
export function visible(value: string): string {
  // oxlint-disable-next-line no-control-regex -- finding them is the point
  if (!/[\u0000-\u001f\u007f-\u009f]|\p{Cf}|\p{Zl}|\p{Zp}|^\s|\s$|\s{4}/u.test(value)) return value;
  // oxlint-disable-next-line no-control-regex -- writing them out is the point
  return JSON.stringify(value).replace(/[\u007f-\u009f]|\p{Cf}|\p{Zl}|\p{Zp}/gu, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}
