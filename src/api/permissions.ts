/** Routes about permissions: a session's open questions in full, the user's rules, and what they would do. */
import { judgeCall, optionFor } from "../model/permission-rules.ts";
import type { ApiRequest } from "../ports/api.ts";
import type { LoadedRules } from "../ports/permission-rules.ts";
import type { Output } from "../contract/operations.ts";
import { HoldfastError } from "../contract/errors.ts";
import { ruleText } from "../contract/permission-rules.ts";
import type { SessionState } from "../model/session.ts";
import type { PermissionOption } from "../contract/ids.ts";
import type { FindingJson } from "../contract/daemon.ts";
import { findChat } from "./chat.ts";
import type { Services } from "../supervisor/services.ts";
import { factsOf, verdictWords } from "../supervisor/permission-rules.ts";
import { findProject } from "./projects.ts";
import { detailsOf, findPermissionRequest, permissionRequestJson } from "../supervisor/permission-requests.ts";

export function questions(parts: Services, ask: ApiRequest<"questions">): Output<"questions"> {
  const session = findChat(parts, ask);
  return session.permissions.map((open) => permissionRequestJson(parts.store, session, open));
}

export async function listRules(parts: Services): Promise<Output<"permissionRules">> {
  const loaded = await parts.rules.refresh();
  return {
    file: loaded.file,
    problem: loaded.ok ? null : loaded.problem,
    rules: loaded.ok
      ? loaded.rules.map(({ line, ...rule }, at) => ({ number: at + 1, line, text: ruleText(rule), ...rule }))
      : [],
  };
}

/** Where nothing is: relative paths are then inside, and absolute ones outside. */
const noWorktree = "/.no-worktree";

/** Decides like a real question, and does nothing. */
export async function testRules(parts: Services, ask: ApiRequest<"permissionTest">): Promise<Output<"permissionTest">> {
  const { session: id, question: name, agent, project, tool, command, path, cwd } = ask.query;
  const loaded = await parts.rules.refresh();
  if (id !== undefined) {
    const session = findChat(parts, { ...ask, params: { id } });
    const open = findPermissionRequest(session, name);
    if (open === null) {
      throw new HoldfastError(
        "conflict",
        name === undefined ? "No permission request is open." : "That question is not open.",
        {
          hint: `Show open questions: holdfast acp questions ${session.id}`,
        },
      );
    }
    return verdict(loaded, factsOf(session, detailsOf(parts.store, session, open)), open.options);
  }
  const row = project === undefined ? null : findProject(parts, project);
  const details = {
    kind: tool ?? null,
    title: null,
    command: command ?? null,
    cwd: cwd ?? null,
    extras: [],
    paths: path === undefined ? [] : path.split("\n").filter((one) => one !== ""),
  };
  const subject = { agent: agent ?? "", project: project ?? "", workspacePath: row?.path ?? noWorktree };
  return verdict(loaded, factsOf(subject as SessionState, details), null);
}

/** `options` are null where no agent has offered any yet. */
function verdict(
  loaded: LoadedRules,
  facts: Parameters<typeof judgeCall>[1],
  options: PermissionOption[] | null,
): Output<"permissionTest"> {
  if (!loaded.ok) {
    const text = `No rule holds, because the configuration has a mistake: ${loaded.problem}`;
    return { rule: null, text: null, action: null, result: "waits", reason: text };
  }
  const found = judgeCall(loaded.rules, facts);
  const answers = found.action === "allow" || found.action === "deny";
  const canAnswer = answers && (options === null || optionFor(found.action, options) !== null);
  return {
    rule: found.rule,
    text: found.rule === null ? null : ruleText(loaded.rules[found.rule - 1]!),
    action: found.action,
    result: !canAnswer ? "waits" : found.action === "allow" ? "allowed" : "denied",
    reason: verdictWords(found, canAnswer),
  };
}

/** For `holdfast doctor`. */
export async function ruleFindings(parts: Services): Promise<FindingJson[]> {
  const loaded = await parts.rules.refresh();
  const check = "permission rules";
  if (!loaded.ok) {
    return [
      {
        check,
        level: "fail",
        message: `No permission rule holds: ${loaded.problem}`,
        fix: "Correct the file. Until then every permission request waits for you.",
        fixable: false,
      },
    ];
  }
  const { length } = loaded.rules;
  if (length === 0) return [];
  const message = `${length} permission ${length === 1 ? "rule" : "rules"} in ${loaded.file}.`;
  return [{ check, level: "ok", message, fix: null, fixable: false }];
}
