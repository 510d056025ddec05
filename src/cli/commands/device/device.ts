/** Commands on logged-in browsers. */
import { HoldfastError } from "../../../contract/errors.ts";
import { type Right, rights, rightText } from "../../../contract/rights.ts";
import type { DeviceJson } from "../../../contract/device.ts";
import { type ArgumentEntry, type CommandEntry } from "../../command.ts";
import type { Context } from "../../context.ts";
import { clean, count, table } from "../../render/text.ts";
import { formatAgeOf } from "../../../model/duration.ts";
import { operationCommand } from "../operation.ts";

const deviceArgument: ArgumentEntry = {
  name: "device",
  description: "Device id, a unique prefix of it, or its name",
  completes: "device",
};

/** Finds a device by its id, a unique prefix of it, or its name. */
async function findDevice(context: Context, given: string): Promise<DeviceJson> {
  const all = await context.call("devices");
  const exact = all.filter(({ id, name }) => id === given || name === given);
  const found = exact.length > 0 ? exact : all.filter(({ id }) => given !== "" && id.startsWith(given));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    throw new HoldfastError("not-found", `No device ${clean(given)} is logged in.`, {
      hint: "Run: holdfast device ls",
    });
  }
  const which = found.map(({ id, name }) => `${id} (${clean(name)})`).join(", ");
  throw new HoldfastError("conflict", `${clean(given)} matches ${found.length} devices: ${which}.`, {
    hint: "Use the full id.",
  });
}

export const ls = operationCommand("devices", {
  examples: [["list logged-in browsers", "holdfast device ls"]],
  notes: "A device that is not used for 30 days is logged out.",
  request: () => ({}),
  print: (devices, { now }) => deviceLines(devices, now()).join("\n"),
});

const head = ["ID", "NAME", "RIGHTS", "LAST SEEN", "ADDRESS", "LOGGED IN"];

function deviceLines(devices: readonly DeviceJson[], now: number): string[] {
  if (devices.length === 0) return ["No browser is logged in. Run: holdfast dashboard"];
  const rows = devices.map(({ id, name, rights, lastSeen, lastAddress, createdAt }) => [
    id,
    clean(name),
    rights,
    `${formatAgeOf(lastSeen, now)} ago`,
    lastAddress ?? "-",
    `${formatAgeOf(createdAt, now)} ago`,
  ]);
  return table([head, ...rows]);
}

export const rename = operationCommand("deviceEdit", {
  arguments: [deviceArgument, { name: "name", description: "New name", variadic: true }],
  examples: [["rename a device", "holdfast device rename 3f9a My phone"]],
  request: async ({ args: [given = "", ...words] }, context) => ({
    params: { id: (await findDevice(context, given)).id },
    body: { name: words.join(" ") },
  }),
  print: ({ id, name }) => `Device ${id} renamed: ${clean(name)}`,
});

export const setRights = operationCommand("deviceEdit", {
  arguments: [deviceArgument, { name: "rights", description: "What it may do", choices: rights }],
  examples: [
    ["let a phone prompt agents and answer permission requests", "holdfast device rights 3f9a answer"],
    ["only let it watch", 'holdfast device rights "My phone" watch'],
  ],
  notes:
    "watch: read everything. answer: also send prompts, answer permission requests, cancel turns and type into agents'\nterminals, not shells. all: everything you may do.",
  request: async (input, context) => ({
    params: { id: (await findDevice(context, input.arg(0))).id },
    body: { rights: input.arg(1) as Right },
  }),
  print: ({ name, rights: right }) => `${clean(name)} ${rightText[right]}.`,
});

export const revoke: CommandEntry = {
  arguments: [{ ...deviceArgument, optional: true, variadic: true }],
  options: [{ long: "all", description: "Log out every device and void unused login links" }],
  examples: [
    ["lock out a lost phone", 'holdfast device revoke "My phone"'],
    ["log out everywhere", "holdfast device revoke --all"],
  ],
  notes: "Its open pages close immediately and its push notifications stop. Sessions keep running.",
  async run(context, input) {
    const all = input.flag("all");
    if (all === input.args.length > 0) {
      throw new HoldfastError("usage", all ? "--all does not accept a device." : "Name a device to revoke.", {
        hint: "List devices: holdfast device ls. To revoke every device, use --all.",
      });
    }
    if (all) {
      const { revoked } = await context.call("logout", { body: { all: true } });
      return context.print({ revoked }, `Logged ${count(revoked, "device")} out.`);
    }
    const found = [];
    for (const given of input.args) found.push(await findDevice(context, given));
    const revoked = [];
    for (const { id } of found) revoked.push(await context.call("deviceRevoke", { params: { id } }));
    return context.print(
      revoked,
      revoked.map(({ id, name }) => `Revoked ${id} (${clean(name)}).`),
    );
  },
};
