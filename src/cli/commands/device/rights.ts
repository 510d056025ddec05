import { rights, rightWords, type Right } from "../../../contract/rights.ts";
import { deviceArgument, findDevice } from "./find-device.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [deviceArgument, { name: "rights", description: "What it may do", choices: rights }],
  options: [jsonOption],
  examples: [
    ["Let a phone prompt agents and answer their questions", "holdfast device rights 3f9a answer"],
    ["Only let it watch", 'holdfast device rights "My phone" watch'],
  ],
  notes:
    "watch: read everything. answer: also send prompts, answer questions, cancel turns and type into agents' terminals,\nnot shells. all: everything you may do.",
  daemon: "starts",
  async run(context, input) {
    const [given = "", right = ""] = input.args;
    const { id } = await findDevice(context, given);
    const device = await context.call("deviceEdit", { params: { id }, body: { rights: right as Right } });
    if (input.flag("json")) context.json(device);
    else context.out(`${clean(device.name)} ${rightWords[device.rights]}.`);
  },
};
