/** The answers that the demo agent offers, and what came back. */
import type { PermissionOption } from "@agentclientprotocol/sdk";

export const permissionOptions: PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "allow-always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

export function pickedOption(answer: unknown): PermissionOption | undefined {
  const { outcome } = (answer ?? {}) as { outcome?: { outcome?: string; optionId?: string } };
  if (outcome?.outcome !== "selected") return undefined;
  return permissionOptions.find(({ optionId }) => optionId === outcome.optionId);
}

/** A cancelled turn waits for no answer; one that comes later is nothing. */
export function unlessAborted(answer: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("cancelled"));
    signal.addEventListener("abort", stop, { once: true });
    answer.then(resolve, () => resolve(undefined)).finally(() => signal.removeEventListener("abort", stop));
  });
}
