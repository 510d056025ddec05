import { type CommandEntry } from "../entry-types.ts";

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "only print the link" }],
  examples: [
    ["open it in the browser", "holdfast dashboard"],
    ["a one-time login link to open elsewhere", "holdfast dashboard --no-open"],
  ],
  notes: "The link logs one browser in, once.",
  daemon: "starts",
  async run(context, input) {
    const { url } = await context.call("loginLink", { body: {} });
    context.out(url);
    if (input.flag("no-open")) return;
    const { openBrowser } = await import("../open-browser.ts");
    if (!(await openBrowser(url, context.env))) context.err("No browser could be opened here; open the link yourself.");
  },
};
