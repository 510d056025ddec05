import { expect, test } from "vitest";
import type { Store } from "../../ports/store.ts";
import { asLaunchId, asSessionId, type LaunchId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import { openCapabilities } from "./callers.ts";

const session = asSessionId("ma-1");
const launch = asLaunchId("11111111-0000-4000-8000-000000000000");

function storeOf(settings = new Map<string, string>()) {
  const runs = new Map<string, SessionState["run"]>();
  const up = (id: string, at: LaunchId): unknown => runs.set(id, { run: "up", launch: at, at: 0, agent: null });
  const store: Pick<Store, "getSetting" | "putSetting" | "session"> = {
    getSetting: (key) => settings.get(key) ?? null,
    putSetting: async (key, value) => {
      await new Promise((committed) => setImmediate(committed));
      settings.set(key, value ?? "");
    },
    session: (id) => {
      const run = runs.get(id);
      return run === undefined ? null : ({ id, run } as SessionState);
    },
  };
  return { store, settings, runs, up };
}

test("[AUTHORIZE-2] a capability holds for its launch while that is the session's current one, also for the next daemon", async () => {
  const { store, settings, runs, up } = storeOf();
  const capabilities = openCapabilities(store);
  up(session, launch);
  const [text, again] = await Promise.all([capabilities.of({ session, launch }), capabilities.of({ session, launch })]);
  expect(again).toBe(text);
  expect(capabilities.read(text)).toEqual({ session, launch });
  expect(openCapabilities(store).read(text)).toEqual({ session, launch });
  // Another home has another secret.
  expect(settings.size).toBe(1);
  const other = storeOf();
  other.up(session, launch);
  await openCapabilities(other.store).of({ session, launch });
  expect(openCapabilities(other.store).read(text)).toBeNull();

  up(session, asLaunchId("22222222-0000-4000-8000-000000000000"));
  expect(capabilities.read(text)).toBeNull();
  up(session, launch);
  expect(capabilities.read(text)).not.toBeNull();
  runs.set(session, { run: "ended", launch, how: "exited", at: 0 } as unknown as SessionState["run"]);
  expect(capabilities.read(text)).toBeNull();
});

test("[AUTHORIZE-2] a capability that was changed in any part is none", async () => {
  const { store, up } = storeOf();
  const capabilities = openCapabilities(store);
  up(session, launch);
  up("ma-2", launch);
  const text = await capabilities.of({ session, launch });
  const forged = [
    "",
    "hfc_",
    text.slice(1),
    text.slice(0, -1),
    `${text}x`,
    text.replace("ma-1", "ma-2"),
    `hfc_ma-1.${launch}.`,
    `hfc_ma-1.${launch}.${"A".repeat(43)}`,
  ];
  for (const one of forged) expect(capabilities.read(one)).toBeNull();
});
