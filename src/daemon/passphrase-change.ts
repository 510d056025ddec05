/** A new passphrase ends every access that was given before it: the old one may have been known to others. */
import { readPassphraseMark } from "../base/passphrase.ts";
import type { Logger } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";

/** The setting that holds the mark of the passphrase under which access was given last. */
const key = "access.passphrase";

export interface PassphraseChange {
  markFile: string;
  store: Pick<Store, "getSetting" | "putSetting">;
  onPassphraseChanged: () => Promise<void>;
  log: Logger;
}

/** Before the API listens. A crash in between repeats it. */
export async function noticePassphraseChange(options: PassphraseChange): Promise<void> {
  const { markFile, store, onPassphraseChanged, log } = options;
  const mark = readPassphraseMark(markFile);
  const last = store.getSetting(key);
  if (mark === null || mark.hash === last) return;
  // Without one on record only the command that set it knows whether there was another.
  if (last !== null || mark.replaced) {
    await onPassphraseChanged();
    log.info("the passphrase was changed; every browser was logged out");
  }
  await store.putSetting(key, mark.hash);
}
