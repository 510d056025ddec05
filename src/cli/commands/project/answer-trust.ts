/** Asks whether a repository's holdfast.yaml is trusted, once: on a terminal, or by --trust and --untrusted. */
import { HoldfastError } from "../../../contract/errors.ts";
import { isOpenQuestion, effectOf, visible } from "../../../contract/trust.ts";
import type { ProjectJson, TrustJson } from "../../../contract/project.ts";
import { askYesNo } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import type { OptionEntry, Input } from "../../command.ts";
import { clean } from "../../render/text.ts";

export function trustLines({ file, state, parts, changes, since, notices }: TrustJson): string[] {
  if (file === null) return ["This project has no holdfast.yaml; nothing needs trust."];
  const shown = (changes ?? parts.map((part) => ({ change: "same" as const, ...part }))).filter(
    ({ change }) => changes === null || change !== "same",
  );
  const same = (changes?.length ?? shown.length) - shown.length;
  const lines = shown.map(({ change, key, value }) => {
    const sign = changes === null ? " " : change === "added" ? "+" : "-";
    return `${sign} ${clean(key)}: ${visible(value)}\n      ${change === "removed" ? "no longer: " : ""}${effectOf(key)}`;
  });
  return [
    ...(parts.length === 0 && lines.length === 0 ? [`Nothing in ${clean(file)} needs trust.`] : []),
    ...(lines.length === 0 ? [] : [headings[state](clean(file), since?.slice(0, 10) ?? null), ...lines]),
    ...(same === 0 ? [] : [`  ${same === 1 ? "1 more setting is" : `${same} more settings are`} unchanged.`]),
    ...notices.map((notice) => `Note: ${clean(notice)}`),
  ];
}

const headings: Record<TrustJson["state"], (file: string, since: string | null) => string> = {
  none: (file) => `${file}:`,
  trusted: (file) => `${file} is trusted. It may run or change:`,
  undecided: (file) => `${file} would run or change:`,
  changed: (file, since) => `${file} has changed${since === null ? "" : ` since your answer of ${since}`}:`,
  declined: (file) => `${file} is not trusted. It would run or change:`,
};

export const trustOptions: readonly OptionEntry[] = [
  { long: "trust", description: "Trust the repository's holdfast.yaml as it is now, without asking" },
  { long: "untrusted", description: "Use defaults instead of the parts of holdfast.yaml that need trust" },
];

/** The answer to record, or null if none is needed. Throws if there is no terminal to ask on. */
export async function decide(context: Context, question: TrustJson, input: Input): Promise<boolean | null> {
  const [trust, refuse] = [input.flag("trust"), input.flag("untrusted")];
  if (trust && refuse) throw new HoldfastError("usage", "--trust and --untrusted contradict each other.");
  const { state } = question;
  if (state === "none") return null;
  if (trust) return state === "trusted" ? null : true;
  if (refuse) return state === "declined" ? null : false;
  if (!isOpenQuestion(state)) return null;
  if (!context.isTerminal(0) || !context.isTerminal(2)) throw cannotAsk(question);
  context.err(trustLines(question).join("\n"));
  context.err("Until you trust it, sessions use defaults. Your answer is kept until these settings change.");
  return askYesNo("Trust this file?");
}

/** Records the answer for newly registered projects of one file, and returns them updated. */
export async function answerFor(
  context: Context,
  added: readonly ProjectJson[],
  question: TrustJson,
  trust: boolean,
): Promise<ProjectJson[]> {
  const [first] = added;
  if (first !== undefined) await answer(context, first.id, question, trust);
  const ids = new Set(added.map(({ id }) => id));
  return (await context.call("projects")).filter(({ id }) => ids.has(id));
}

/** Sends the answer for exactly the settings that were shown. */
async function answer(context: Context, project: string, question: TrustJson, trust: boolean): Promise<void> {
  if (question.digest === null) return;
  const body = { digest: question.digest, trust, seen: question.state };
  await context.call("trustAnswer", { params: { id: project }, body });
}

/** Asks before a spawn, if needed. */
export async function settleTrust(context: Context, project: ProjectJson, input: Input): Promise<void> {
  const { trust: state = "none" } = project;
  const forced = input.flag("trust") || input.flag("untrusted");
  if (state === "none" || (!forced && !isOpenQuestion(state))) return;
  // An agent cannot answer: its sessions use defaults until the user does.
  if (!forced && (context.env["HOLDFAST_SESSION"] ?? "") !== "") return;
  const question = await context.call("trust", { params: { id: project.id } });
  const trust = await decide(context, question, input);
  if (trust !== null) await answer(context, project.id, question, trust);
}

function cannotAsk(question: TrustJson): HoldfastError {
  const id = question.project;
  const file = clean(question.file ?? "");
  const why = question.state === "changed" ? `${file} has changed since you answered` : `${file} is not trusted yet`;
  const review = id === null ? "" : ` Or review it first: holdfast project trust ${clean(id)}`;
  return new HoldfastError(
    "conflict",
    `${why}, and there is no terminal to ask on.\n${trustLines(question).join("\n")}`,
    {
      hint: `Add --trust to accept these settings, or --untrusted to use defaults.${review}`,
    },
  );
}
