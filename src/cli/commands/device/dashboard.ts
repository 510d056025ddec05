import { askLoginLink } from "./login-link.ts";
import { openBrowser } from "./open-browser.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "only print the link" }, jsonOption],
  examples: [
    ["open it in the browser", "holdfast dashboard"],
    ["a one-time login link to open elsewhere", "holdfast dashboard --no-open"],
  ],
  notes: "The link logs one browser in, once, within a minute. For another device: holdfast pair.",
  daemon: "starts",
  async run(context, input) {
    const opens = !input.flag("no-open");
    const { url, expiresAt, file } = await askLoginLink(context, opens);
    const json = input.flag("json");
    if (!json) context.out(url);
    const opened = opens && (await openBrowser(file, context.env));
    if (opens) {
      context.err(
        opened
          ? "Opening the browser. If it shows nothing (some packaged browsers cannot read the file), open the link yourself."
          : "No browser could be opened here; open the link yourself.",
      );
    }
    if (json) context.json({ url, expiresAt, opened });
  },
};
