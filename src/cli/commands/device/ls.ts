import { type CommandEntry, jsonOption } from "../../command.ts";
import { deviceLines } from "../../render/devices.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["Who is logged in, and since when", "holdfast device ls"]],
  notes: "A device that was not used for 30 days is logged out.",
  daemon: "starts",
  async run(context, input) {
    const devices = await context.call("devices");
    if (input.flag("json")) context.json(devices);
    else context.out(deviceLines(devices, context.now()).join("\n"));
  },
};
