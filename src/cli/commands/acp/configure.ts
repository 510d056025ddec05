import { HoldfastError } from "../../../contract/error.ts";
import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { quoteShellWord } from "../../../model/text.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    { long: "mode", value: "id", description: "the agent's mode", completes: "none" },
    { long: "model", value: "id", description: "its model", completes: "none" },
    {
      long: "set",
      value: "option=value",
      description: "another option (may be repeated)",
      completes: "none",
      many: true,
    },
    jsonOption,
  ],
  examples: [
    ["what can be picked, and what is", "holdfast acp configure ma-12"],
    ["another mode", "holdfast acp configure ma-12 --mode plan"],
    ["an option of this agent's own", "holdfast acp configure ma-12 --set effort=high"],
  ],
  notes: "The agent has to run. What it agreed to is kept, and picked again when it is started again.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const [mode, model] = [input.text("mode"), input.text("model")];
    const options = input.list("set").map(optionOf);
    const bodies = [
      ...(mode === undefined ? [] : [{ mode }]),
      ...(model === undefined ? [] : [{ model }]),
      ...options.map((option) => ({ option })),
    ];
    try {
      // One after the other: a refusal says which one it was.
      for (const body of bodies) await context.call("configure", { params: { id }, body });
      const { modes, models, configOptions } = await context.call("transcript", { params: { id }, query: { tail: 1 } });
      if (input.flag("json")) context.json({ modes, models, configOptions });
      else if (bodies.length > 0) context.out("Done.");
      else for (const line of choices({ modes, models, configOptions })) context.out(line);
      return 0;
    } catch (error) {
      throw await verbFailure(context, "configure", id, error);
    }
  },
};

function optionOf(text: string): { id: string; value: string } {
  const [, id, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (id !== undefined && value !== undefined) return { id, value };
  throw new HoldfastError("usage", `--set takes option=value, not ${clean(text)}.`);
}

type Fields = Record<string, unknown>;

/** As the agent gave them: nothing of it is believed to be there. */
function choices({ modes, models, configOptions }: Record<"modes" | "models" | "configOptions", unknown>): string[] {
  const lines = [
    ...line("mode", fields(modes)["currentModeId"], list(fields(modes)["availableModes"]), "id"),
    ...line("model", fields(models)["currentModelId"], list(fields(models)["availableModels"]), "modelId"),
    ...list(configOptions).flatMap((option) =>
      line(word(option["id"]), option["currentValue"], list(option["options"]), "value"),
    ),
  ];
  return lines.length === 0 ? ["This agent offers nothing to pick, or has not run yet."] : lines;
}

function line(name: string, current: unknown, offered: Fields[], key: string): string[] {
  // Options may come in groups.
  const flat = offered.flatMap((one) => (Array.isArray(one["options"]) ? list(one["options"]) : [one]));
  if (name === "" || (flat.length === 0 && current === undefined)) return [];
  // Shown to be typed behind an option, so as a shell takes them.
  const values = flat
    .map((one) => word(one[key]))
    .filter((value) => value !== "")
    .map(quoteShellWord);
  return [clean(`${name}: ${word(current)}${values.length === 0 ? "" : ` (of ${values.join(", ")})`}`)];
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}
