/** Finds a device by what the person typed: its id, the beginning of it, or its name. */
import { HoldfastError } from "../../../contract/error.ts";
import type { DeviceJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import type { ArgumentEntry } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const deviceArgument: ArgumentEntry = {
  name: "device",
  description: "Device id, a unique prefix of it, or its name",
  completes: "device",
};

export async function findDevice(context: Context, given: string): Promise<DeviceJson> {
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
  throw new HoldfastError("conflict", `${clean(given)} fits ${found.length} devices: ${which}.`, {
    hint: "Give the whole id.",
  });
}
