import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashForMark } from "../base/passphrase.ts";
import { noticePassphraseChange } from "./passphrase.ts";

test("[REMOTE-10] another passphrase ends all access, once, also after a crash in between; the same one does not", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hf-mark-"));
  const markFile = join(directory, "mark");
  const kept = new Map<string, string>();
  const store = {
    getSetting: (key: string) => kept.get(key) ?? null,
    putSetting: (key: string, value: string | null) => {
      kept.set(key, value ?? "");
      return Promise.resolve();
    },
  };
  let ended = 0;
  let fails = false;
  const quiet = () => undefined;
  const start = () =>
    noticePassphraseChange({
      markFile,
      store,
      onPassphraseChanged: () => {
        if (fails) return Promise.reject(new Error("crashed"));
        ended++;
        return Promise.resolve();
      },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
  const mark = (passphrase: string, replaced: boolean): void =>
    writeFileSync(markFile, JSON.stringify({ hash: hashForMark(passphrase), weak: null, replaced }));
  try {
    await start();
    // The first that was ever set, or that of an earlier build, given again.
    mark("one", false);
    await start();
    await start();
    expect(ended).toBe(0);
    mark("two", true);
    fails = true;
    await expect(start()).rejects.toThrow("crashed");
    fails = false;
    await start();
    await start();
    expect(ended).toBe(1);
    // That of an earlier build, replaced by another one.
    kept.clear();
    await start();
    expect(ended).toBe(2);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
