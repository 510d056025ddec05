/**
 * The user's answers about repositories' files, in the home's database (0600). Stored by file and digest: a file that returns
 * to an answered version, as with a change of branch, needs no new answer.
 */
import { createHash } from "node:crypto";
import { digestOf } from "../base/digest.ts";
import type { Store, ProjectRow } from "../ports/store.ts";
import type { TrustDecisions, TrustQuestion } from "../ports/trust.ts";
import { type TrustPart, type TrustState, isOpenQuestion } from "../contract/trust.ts";
import type { Services } from "./services.ts";

const key = "trust.answers";
/** More versions of one file than a user switches between. */
const keptVersions = 20;

interface Answered {
  /** Digests, the newest answer first. */
  trusted: string[];
  declined: string[];
  /** The parts last trusted, or else last declined: changes are shown against them. */
  parts: TrustPart[];
  partsTrusted: boolean;
  at: number;
}

/** Values of variables may be secrets, which the database does not store: their digest shows whether they changed. */
function sealed(parts: readonly TrustPart[]): TrustPart[] {
  return parts.map(({ key, value }) => ({ key, value: isVariable(key) ? sealOf(value) : value }));
}

const isVariable = (key: string): boolean => /\.env\.[^.]+$/.test(key);
const sealOf = (value: string): string => `sha256:${createHash("sha256").update(value).digest("hex")}`;

/** Stored parts with the values that are still the same; of the others only the change is known. */
export function unsealed(kept: readonly TrustPart[], now: readonly TrustPart[]): TrustPart[] {
  return kept.map(({ key, value }) => {
    if (!isVariable(key)) return { key, value };
    const same = now.find((part) => part.key === key && (part.value === value || sealOf(part.value) === value));
    return { key, value: same?.value ?? (value.startsWith("sha256:") ? "(another value)" : value) };
  });
}

export type TrustStore = ReturnType<typeof keptTrust>;

export function keptTrust(store: Pick<Store, "getSetting" | "putSetting">, now: () => number) {
  // A map without a prototype: repositories choose the file names.
  let answers: Map<string, Answered> | null = null;
  let writing: Promise<void> = Promise.resolve();
  const read = (): Map<string, Answered> =>
    (answers ??= new Map(JSON.parse(store.getSetting(key) ?? "[]") as [string, Answered][]));
  const stateOf: TrustDecisions["stateOf"] = (file, digest) => {
    const answered = read().get(file);
    if (answered === undefined) return "undecided";
    if (answered.trusted.includes(digest)) return "trusted";
    return answered.declined.includes(digest) ? "declined" : "changed";
  };
  const write = async (question: TrustQuestion, trust: boolean, judge: (now: TrustState) => boolean): Promise<void> => {
    const forget = judge(stateOf(question.file, question.digest)) && !trust;
    const before = read().get(question.file);
    const { file, digest } = question;
    const parts = sealed(question.parts);
    const without = (list: string[] = []): string[] => list.filter((one) => one !== digest).slice(0, keptVersions - 1);
    const trusted = forget ? [] : without(before?.trusted);
    const declined = without(before?.declined);
    const isShown = trust || before?.partsTrusted !== true;
    const after: Answered = {
      trusted: trust ? [digest, ...trusted] : trusted,
      declined: trust ? declined : [digest, ...declined],
      parts: isShown ? parts : before.parts,
      partsTrusted: trust || before?.partsTrusted === true,
      at: isShown ? now() : before.at,
    };
    const next = new Map(read()).set(file, after);
    await store.putSetting(key, JSON.stringify([...next]));
    // Only now: nothing may run on an answer that a crash could lose.
    answers = next;
  };
  return {
    stateOf,
    revision: (): string => digestOf(JSON.stringify([...read()])),
    /** The baseline for a changed file; null before the first answer. */
    before: (file: string): Pick<Answered, "parts" | "at"> | null => read().get(file) ?? null,
    /**
     * Resolves once the answer is on disk.
     * @param judge is called with the state that the answer would change, and throws if the answer is out of date. True: a
     * refusal withdraws trust from every version of the file.
     */
    answer(question: TrustQuestion, trust: boolean, judge: (now: TrustState) => boolean = () => false): Promise<void> {
      // One at a time: the second of two answers sees the first.
      writing = writing.catch(() => undefined).then(() => write(question, trust, judge));
      return writing;
    },
  };
}

type Known = Pick<Services, "store" | "settings" | "projects" | "trust">;

export async function trustNotes(services: Known): Promise<string[]> {
  const states = await Promise.all(
    services.store.projects().map(async (row) => ({ row, state: await stateOf(services, row) })),
  );
  const waiting = states.filter(({ state }) => isOpenQuestion(state)).map(({ row }) => row.id);
  if (waiting.length === 0) return [];
  const [only] = waiting;
  if (waiting.length === 1) return [`1 project needs your trust: holdfast project trust ${only}`];
  return [`${waiting.length} projects need your trust (${waiting.join(", ")}): holdfast project trust <id>`];
}

async function stateOf({ settings, projects, trust }: Known, row: ProjectRow): Promise<TrustState> {
  const known = settings.last(row.id)?.trust;
  if (known === undefined || !isOpenQuestion(known.state)) return "none";
  if (known.digest !== null) return known.state;
  // Stored by a build that did not ask for trust: only the file shows whether any part needs it.
  const question = await projects.trustOf(row).catch(() => null);
  return question === null || question.parts.length === 0 ? "none" : trust.stateOf(question.file, question.digest);
}
