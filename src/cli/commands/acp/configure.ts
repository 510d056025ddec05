import { HoldfastError } from "../../../contract/errors.ts";
import { chatArgument, type CommandEntry } from "../../command.ts";
import { quoteShellWord } from "../../../model/text.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    { long: "mode", value: "id", description: "Mode to set" },
    { long: "model", value: "id", description: "Model to set" },
    {
      long: "set",
      value: "option=value",
      description: "Another option to set (repeatable)",
      many: true,
    },
  ],
  examples: [
    ["show available and current settings", "holdfast acp configure ma-12"],
    ["set the mode", "holdfast acp configure ma-12 --mode plan"],
    ["set an agent-specific option", "holdfast acp configure ma-12 --set effort=high"],
  ],
  notes: "Requires a running agent. Accepted settings are saved and reapplied on restart.",
  fails: "configure",
  async run(context, input) {
    const id = input.arg(0);
    const [mode, model] = [input.text("mode"), input.text("model")];
    const options = input.list("set").map(optionOf);
    const bodies = [
      ...(mode === undefined ? [] : [{ mode }]),
      ...(model === undefined ? [] : [{ model }]),
      ...options.map((option) => ({ option })),
    ];
    // One after the other: the error then names the setting that was refused.
    for (const body of bodies) await context.call("configure", { params: { id }, body });
    const { modes, models, configOptions } = await context.call("transcript", { params: { id }, query: { tail: 1 } });
    const settings = { modes, models, configOptions };
    context.print(settings, bodies.length > 0 ? "Done." : settingLines(settings));
  },
};

function optionOf(text: string): { id: string; value: string } {
  const [, id, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (id !== undefined && value !== undefined) return { id, value };
  throw new HoldfastError("usage", `--set must be option=value, not ${clean(text)}.`);
}

type Fields = Record<string, unknown>;

/** Unchecked values from the agent: every field may be missing. */
function settingLines({
  modes,
  models,
  configOptions,
}: Record<"modes" | "models" | "configOptions", unknown>): string[] {
  const lines = [
    ...line("mode", fields(modes)["currentModeId"], list(fields(modes)["availableModes"]), "id"),
    ...line("model", fields(models)["currentModelId"], list(fields(models)["availableModels"]), "modelId"),
    ...list(configOptions).flatMap((option) =>
      line(textOf(option["id"]), option["currentValue"], list(option["options"]), "value"),
    ),
  ];
  return lines.length === 0 ? ["This agent has no settings, or has not started yet."] : lines;
}

function line(name: string, current: unknown, offered: Fields[], key: string): string[] {
  // Options may be grouped.
  const flat = offered.flatMap((one) => (Array.isArray(one["options"]) ? list(one["options"]) : [one]));
  if (name === "" || (flat.length === 0 && current === undefined)) return [];
  // Quoted for the shell, to be pasted behind an option.
  const values = flat
    .map((one) => textOf(one[key]))
    .filter((value) => value !== "")
    .map(quoteShellWord);
  return [clean(`${name}: ${textOf(current)}${values.length === 0 ? "" : ` (of ${values.join(", ")})`}`)];
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
