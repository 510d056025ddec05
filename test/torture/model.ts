/**
 * Which final intents a session may have, from the requests alone. Two requests that overlap may have taken effect in
 * either order, and one without a response may have had no effect; an answered one that started after another had ended
 * decides over it.
 */
import type { Fate, Request } from "./ledger.ts";

export type Final = "running" | "stopped" | "snoozed" | "archived" | "killed" | "deleted" | "absent";

/** The intent that each verb sets. */
const effects: Record<string, { ok: Final[]; cut: Final[] }> = {
  spawn: { ok: ["running"], cut: ["running", "absent"] },
  stop: { ok: ["stopped"], cut: ["stopped"] },
  kill: { ok: ["killed"], cut: ["killed"] },
  restore: { ok: ["running"], cut: ["running"] },
  archive: { ok: ["archived"], cut: ["archived"] },
  unarchive: { ok: ["running"], cut: ["running"] },
  snooze: { ok: ["snoozed"], cut: ["snoozed"] },
  wake: { ok: ["running"], cut: ["running"] },
  delete: { ok: ["deleted"], cut: ["deleted"] },
  convert: { ok: ["running"], cut: ["running"] },
  send: { ok: ["running"], cut: ["running"] },
  rename: { ok: [], cut: [] },
};

/** A session whose spawn was interrupted is known only from the list. */
const made: Request = { client: -1, verb: "spawn", session: null, from: 0, to: 0, fate: "ok", error: null };

export function allowedFinals(requests: readonly Request[]): Set<Final> {
  const all = requests.some(({ verb }) => verb === "spawn") ? requests : [made, ...requests];
  const changing = all.filter(({ verb, fate }) => effectOf(verb, fate).length > 0);
  const answered = changing.filter(({ fate }) => fate === "ok");
  // Nothing restores a deleted session, so an answered delete decides over everything.
  if (answered.some(({ verb }) => verb === "delete")) return new Set(["deleted"]);
  const candidates = changing.filter((one) => !answered.some((other) => other !== one && other.from > one.to));
  return new Set(candidates.flatMap(({ verb, fate }) => effectOf(verb, fate)));
}

function effectOf(verb: string, fate: Fate): Final[] {
  const effect = effects[verb];
  if (effect === undefined) throw new Error(`the model does not know ${verb}`);
  return fate === "refused" ? [] : effect[fate];
}

/** Whether a request of that verb, answered or interrupted, was in progress at that time. */
export function covered(requests: readonly Request[], verb: string, at: number, slackMs: number): boolean {
  return requests.some(
    (one) => one.verb === verb && one.fate !== "refused" && one.from - slackMs <= at && at <= one.to + slackMs,
  );
}
