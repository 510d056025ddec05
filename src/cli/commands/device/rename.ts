import { deviceArgument, findDevice } from "./find-device.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [deviceArgument, { name: "name", description: "Its new name", variadic: true, completes: "none" }],
  options: [jsonOption],
  examples: [["Give it a name", "holdfast device rename 3f9a My phone"]],
  daemon: "starts",
  async run(context, input) {
    const [given = "", ...words] = input.args;
    const { id } = await findDevice(context, given);
    const device = await context.call("deviceEdit", { params: { id }, body: { name: words.join(" ") } });
    if (input.flag("json")) context.json(device);
    else context.out(`Device ${device.id} renamed: ${clean(device.name)}`);
  },
};
