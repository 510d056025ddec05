/** Permission requests of chat agents, and the user's rules that answer them. */
import { finding, type FindingJson } from "../contract/daemon.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asProjectId, type PermissionOption } from "../contract/ids.ts";
import type { Input, Output } from "../contract/operations.ts";
import { ruleText } from "../contract/permission-rules.ts";
import { judgeCall, optionFor } from "../model/permission-rules.ts";
import { optionKindLabel } from "../model/tool-call.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { LoadedRules } from "../ports/permission-rules.ts";
import type { Loop } from "../supervisor/loop.ts";
import { detailsOf, findPermissionRequest, permissionRequestJson } from "../supervisor/permission-requests.ts";
import { factsOf, formatVerdict } from "../supervisor/permission-rules.ts";
import type { Services } from "../supervisor/services.ts";
import { findChat, findProject } from "./find.ts";

type Needs = Pick<Services, "store" | "rules" | "runtimes">;

const notOpen = "It was answered already, or its agent is gone.";
const noneOpen = "No permission request is open.";

export function permissionHandlers(
  services: Needs,
  loop: Loop,
): Handlers<"questions" | "answer" | "permissionRules" | "permissionTest"> {
  return {
    questions: (request) => {
      const session = findChat(services, request);
      return session.permissions.map((open) => permissionRequestJson(services.store, session, open));
    },
    answer: async (request) => {
      const { requestId } = request.input;
      const session = findChat(services, request);
      const open = findPermissionRequest(session, requestId);
      if (open === null) return { answered: false, reason: requestId === undefined ? noneOpen : notOpen };
      const option = chooseOption(open.options, request.input);
      const result = await services.runtimes.chat.answer(session, open.requestId, option, request.actor);
      loop.asked(session.id);
      if (result.answered) return { answered: true, reason: null };
      return { answered: false, reason: result.why === "not-open" ? notOpen : `There is no option ${option}.` };
    },
    permissionRules: async () => {
      const loaded = await services.rules.refresh();
      const rules = loaded.ok ? loaded.rules : [];
      return {
        file: loaded.file,
        problem: loaded.ok ? null : loaded.problem,
        rules: rules.map(({ line, ...rule }, at) => ({ number: at + 1, line, text: ruleText(rule), ...rule })),
      };
    },
    permissionTest: (request) => testRules(services, request),
  };
}

/** Agents order and name their options as they like; what an option means is its kind. */
function chooseOption(options: PermissionOption[], { optionId, answer = "allow" }: Input<"answer">): string {
  if (optionId !== undefined) return optionId;
  const choices = {
    // "Always" is more than was asked for.
    allow: { kinds: ["allow_once"], meaning: "allows it once" },
    allow_always: { kinds: ["allow_always"], meaning: "allows it always" },
    deny: { kinds: ["reject_once", "reject_always"], meaning: "rejects it" },
  };
  const { kinds, meaning } = choices[answer];
  const found = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0];
  if (found !== undefined) return found.optionId;
  throw new HoldfastError("invalid", `The agent offers no option that ${meaning}.`, {
    hint: `It offers: ${options.map(({ name, kind }) => `${optionKindLabel(kind)} (${name})`).join(", ")}.`,
  });
}

/** Without a project: relative paths are then inside of the worktree, and absolute ones outside. */
const noWorktree = "/.no-worktree";

/** Decides like a real permission request, and answers nothing. */
async function testRules(services: Needs, request: ApiRequest<"permissionTest">): Promise<Output<"permissionTest">> {
  const { session: id, question: name, agent = "", project = "", tool, command, path = "", cwd } = request.query;
  const loaded = await services.rules.refresh();
  if (id !== undefined) {
    const session = findChat(services, { params: { id } });
    const open = findPermissionRequest(session, name);
    if (open !== null) return verdict(loaded, factsOf(session, detailsOf(services.store, session, open)), open.options);
    throw new HoldfastError("conflict", name === undefined ? noneOpen : "That permission request is not open.", {
      hint: `List open permission requests: holdfast acp questions ${session.id}`,
    });
  }
  const details = {
    kind: tool ?? null,
    title: null,
    command: command ?? null,
    cwd: cwd ?? null,
    extras: [],
    paths: path.split("\n").filter((one) => one !== ""),
  };
  const row = project === "" ? { id: asProjectId(""), path: noWorktree } : findProject(services, project);
  return verdict(loaded, factsOf({ agent, project: row.id, workspacePath: row.path }, details), null);
}

/** @param options null if no agent has offered any yet. */
function verdict(
  loaded: LoadedRules,
  facts: Parameters<typeof judgeCall>[1],
  options: PermissionOption[] | null,
): Output<"permissionTest"> {
  if (!loaded.ok) {
    const reason = `No rule applies, because the configuration is invalid: ${loaded.problem}`;
    return { rule: null, text: null, action: null, result: "waits", reason };
  }
  const found = judgeCall(loaded.rules, facts);
  const answers = found.action === "allow" || found.action === "deny";
  const canAnswer = answers && (options === null || optionFor(found.action, options) !== null);
  return {
    rule: found.rule,
    text: found.rule === null ? null : ruleText(loaded.rules[found.rule - 1]!),
    action: found.action,
    result: !canAnswer ? "waits" : found.action === "allow" ? "allowed" : "denied",
    reason: formatVerdict(found, canAnswer),
  };
}

/** For `holdfast doctor`. */
export async function ruleFindings({ rules }: Pick<Services, "rules">): Promise<FindingJson[]> {
  const loaded = await rules.refresh();
  const check = "permission rules";
  if (!loaded.ok) {
    const fix = "Correct the file. Until then every permission request waits for you.";
    return [finding(check, "fail", `No permission rule applies: ${loaded.problem}`, fix)];
  }
  const { length } = loaded.rules;
  if (length === 0) return [];
  return [finding(check, "ok", `${length} permission ${length === 1 ? "rule" : "rules"} in ${loaded.file}.`)];
}
