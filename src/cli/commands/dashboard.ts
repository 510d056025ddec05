import { type CommandEntry, jsonOption } from "../entry-types.ts";

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "only print the link" }, jsonOption],
  examples: [
    ["open it in the browser", "holdfast dashboard"],
    ["a one-time login link to open elsewhere", "holdfast dashboard --no-open"],
  ],
  notes: "The link logs one browser in, once.",
  daemon: "starts",
  async run(context, input) {
    const { url, expiresAt } = await context.call("loginLink", { body: {} });
    const json = input.flag("json");
    if (!json) context.out(url);
    let opened = false;
    if (!input.flag("no-open")) {
      const { openBrowser } = await import("../open-browser.ts");
      opened = await openBrowser(url, context.env);
      if (!opened) context.err("No browser could be opened here; open the link yourself.");
    }
    if (json) context.json({ url, expiresAt, opened });
  },
};
