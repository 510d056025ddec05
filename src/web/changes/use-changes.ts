/**
 * The changes and their patch. Loaded when the view opens, when the agent may have changed files, when the tab becomes
 * visible, and on request; never for an idle session.
 */
import { parsePatchFiles, setLanguageOverride, type FileDiffMetadata } from "@pierre/diffs";
import { useEffect, useRef, useState } from "react";
import type { ChangesJson, PatchJson } from "../../contract/worktree.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";
import { visibleText } from "../shared/ui/safe-text.ts";
import { languageOf } from "./languages.ts";

/** A working agent sends many events per second; git runs no more often than this. */
const quietMs = 3_000;
const changingEvents = new Set([
  "tool.updated",
  "turn.ended",
  "activity.changed",
  "workspace.ready",
  "workspace.restored",
  "run.ended",
]);

export interface Loaded {
  changes: ChangesJson;
  patch: PatchJson;
}

export interface Changes {
  loaded: Loaded | null;
  fault: string | null;
  busy: boolean;
  refresh: () => void;
}

export function useChanges(session: string): Changes {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(true);
  const reload = useRef<() => void>(() => undefined);
  useEffect(() => {
    const abort = new AbortController();
    const options = { params: { id: session }, signal: abort.signal };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running = false;
    let again = false;
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      if (running) {
        again = true;
        return;
      }
      running = true;
      setBusy(true);
      try {
        const [changes, patch] = await Promise.all([call("changes", options), call("patch", options)]);
        // An identical result must not disturb reading.
        setLoaded((now) => (JSON.stringify(now) === JSON.stringify({ changes, patch }) ? now : { changes, patch }));
        setFault(null);
      } catch (error) {
        if (!abort.signal.aborted) setFault(sentenceOf(error));
      }
      running = false;
      setBusy(false);
      if (again && !abort.signal.aborted) {
        again = false;
        soon();
      }
    };
    const soon = (): void => {
      timer ??= setTimeout(() => void load(), quietMs);
    };
    const onVisible = (): void => {
      if (document.visibilityState === "visible") void load();
    };
    reload.current = () => void load();
    void load();
    const stop = onEvents(session, (events) => {
      if (events.some(({ type }) => changingEvents.has(type))) soon();
    });
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [session]);
  return { loaded, fault, busy, refresh: () => reload.current() };
}

/** The patch by file path. */
export function parsePatch(patch: string): Map<string, FileDiffMetadata> {
  // Windows line ends are not text; other hidden characters are written out.
  const shown = visibleText(patch.replaceAll("\r\n", "\n"));
  const files = parsePatchFiles(shown).flatMap(({ files: some }) => some);
  return new Map(files.map((file) => [file.name, setLanguageOverride(file, languageOf(file.name))]));
}

/** Null if the diff does not contain that line. */
export function lineText(file: FileDiffMetadata, side: "additions" | "deletions", line: number): string | null {
  for (const hunk of file.hunks) {
    const [start, count, index, lines] =
      side === "additions"
        ? [hunk.additionStart, hunk.additionCount, hunk.additionLineIndex, file.additionLines]
        : [hunk.deletionStart, hunk.deletionCount, hunk.deletionLineIndex, file.deletionLines];
    if (line >= start && line < start + count) return (lines[index + line - start] ?? "").replace(/\n$/, "");
  }
  return null;
}
