import { HoldfastError } from "../../../contract/error.ts";
import { deviceArgument, findDevice } from "./find-device.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean, count } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [{ ...deviceArgument, optional: true, variadic: true }],
  options: [{ long: "all", description: "Log every device out, and void unused login links" }, jsonOption],
  examples: [
    ["Lock a lost phone out", 'holdfast device revoke "My phone"'],
    ["Log out everywhere", "holdfast device revoke --all"],
  ],
  notes: "Its open pages close at once and its pushes stop. Sessions keep running.",
  daemon: "starts",
  async run(context, input) {
    const all = input.flag("all");
    if (all === input.args.length > 0) {
      throw new HoldfastError("usage", all ? "--all takes no device." : "Name a device to revoke.", {
        hint: "holdfast device ls lists them; --all revokes every device.",
      });
    }
    if (all) {
      const { revoked } = await context.call("logout", { body: { all: true } });
      if (input.flag("json")) context.json({ revoked });
      else context.out(`Logged ${count(revoked, "device")} out.`);
      return;
    }
    const found = [];
    for (const given of input.args) found.push(await findDevice(context, given));
    const revoked = [];
    for (const { id } of found) revoked.push(await context.call("deviceRevoke", { params: { id } }));
    if (input.flag("json")) context.json(revoked);
    else for (const { id, name } of revoked) context.out(`Revoked ${id} (${clean(name)}).`);
  },
};
