import { expect, test } from "vitest";
import { pickersOf, usageOf } from "./picker-bar.tsx";

const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code" }] };

test("[WEB-63] modes, models and options of any agent become pickers; a mode reported twice becomes one", () => {
  const configOptions = [
    { id: "mode", currentValue: "ask", options: [{ value: "ask" }] },
    { id: "permission", category: "mode", currentValue: "ask", options: [{ value: "ask" }] },
    { id: "effort", name: "Effort", currentValue: "low", options: [{ value: "low" }, { value: "high", name: "High" }] },
    { id: "model", currentValue: "b", options: [{ group: "g", name: "G", options: [{ value: "a" }, { value: "b" }] }] },
  ];
  const pickers = pickersOf({ modes, models: null, configOptions });
  expect(pickers.map(({ id, current, choices }) => [id, current, choices.length])).toEqual([
    ["mode", "ask", 2],
    ["effort", "low", 2],
    ["model", "b", 2],
  ]);
  expect(pickers.map(({ request }) => request("v"))).toEqual([
    { mode: "v" },
    { option: { id: "effort", value: "v" } },
    { option: { id: "model", value: "v" } },
  ]);
});

test("[WEB-63] a listed model is picked as a model; malformed options are ignored", () => {
  const models = { currentModelId: "m", availableModels: [{ modelId: "m", name: "M" }] };
  expect(pickersOf({ modes: "x", models, configOptions: {} }).map(({ request }) => request("m"))).toEqual([
    { model: "m" },
  ]);
  expect(pickersOf({ modes: null, models: [], configOptions: [null, { id: "x" }] })).toEqual([]);
  expect(usageOf({ used: 5, size: 10 })).toEqual({ used: 5, size: 10 });
  expect(usageOf({ total: 5 })).toBeNull();
});
