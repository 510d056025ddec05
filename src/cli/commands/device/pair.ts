import { HoldfastError } from "../../../contract/errors.ts";
import { rights, rightText, type Right } from "../../../contract/rights.ts";
import { type CommandEntry } from "../../command.ts";
import type { Context } from "../../context.ts";
import { bareHost, isLoopback } from "../../../base/addresses.ts";
import { wantsColors } from "../../render/text.ts";
import { styleText } from "node:util";
import { renderUnicodeCompact } from "uqr";

export const command: CommandEntry = {
  options: [
    { long: "rights", value: "rights", description: "What the device may do (default: all)", choices: rights },
    { long: "name", value: "name", description: "Name of the device (default: its browser's)" },
    { long: "no-qr", description: "Only print the link" },
  ],
  examples: [
    ["log in a phone with its camera", "holdfast pair"],
    ["log in a screen that only shows the board", "holdfast pair --rights watch --name Kiosk"],
  ],
  notes:
    "The link works once and expires after 10 minutes. watch: read everything. answer: also send prompts, answer\npermission requests, cancel turns and type into agents' terminals, not shells. all: everything you may do.",
  async run(context, input) {
    const name = input.text("name");
    if (name?.trim() === "") throw new HoldfastError("usage", "--name must not be empty.");
    const right = (input.text("rights") ?? "all") as Right;
    const body = { for: "pair", rights: right, ...(name === undefined ? {} : { name }) } as const;
    const { url: local, expiresAt } = await context.call("loginLink", { body });
    const url = (await publicUrl(context)) + local.slice(local.indexOf("/#"));
    if (!input.flag("no-qr")) context.out(qrLines(url, wantsColors(context.env, context.isTerminal(1))).join("\n"));
    context.print({ url, expiresAt, rights: right }, url);
    if (input.flag("json")) return;
    context.out(`Works once, until ${new Date(expiresAt ?? 0).toLocaleTimeString()}. The device ${rightText[right]}.`);
    if (isLoopback(bareHost(URL.parse(url)?.hostname ?? ""))) {
      context.err(
        "This address only works on this machine, or through an SSH tunnel to it. For a phone, start the daemon with --public-url.",
      );
    }
  },
};

/** Where other machines reach the daemon, if it was started with such an address. */
async function publicUrl(context: Context): Promise<string> {
  const { url, publicUrls } = await context.call("info");
  return publicUrls?.[0] ?? url ?? "";
}

/** With colors it is white on black in every theme: not all cameras read an inverted code. */
function qrLines(text: string, colors: boolean): string[] {
  const lines = renderUnicodeCompact(text, { border: 2 }).split("\n");
  return colors ? lines.map((line) => styleText(["whiteBright", "bgBlack"], line, { validateStream: false })) : lines;
}
