import { type CommandEntry, jsonOption } from "../../command.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["Replace the token that scripts use", "holdfast token rotate"]],
  notes:
    "The old token stops working at once, and connections that were opened with it close. Scripts read the new one\nfrom the file. Browsers have keys of their own and stay logged in: see holdfast device.",
  daemon: "starts",
  async run(context, input) {
    const { file } = await context.call("tokenRotate", { body: {} });
    if (input.flag("json")) context.json({ file });
    else context.out(`The main token was replaced. Scripts read it from ${file}`);
  },
};
