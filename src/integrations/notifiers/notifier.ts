/** What a notification channel is. Each channel is one file that calls `defineNotifier`, and one line in registry.ts. */
import * as z from "zod/mini";
import type { Channel, Notification } from "../../ports/notify.ts";

interface NotifierDefinition<Schema extends z.ZodMiniType> {
  /** Its key under `notify` in config.yaml, and its name in events. */
  name: string;
  /** What editors show for that key. */
  description: string;
  /** The shape of its setting. A setting of `false` turns the channel off. */
  schema: Schema;
  /** Fields that error messages may quote; "" is the setting itself. All others count as secrets. */
  quotable: readonly string[];
  /** Resolves once delivered; rejects with a reason that contains no secret. Needs a deadline. */
  send: (setting: z.output<Schema>, notification: Notification) => Promise<void>;
}

export interface Notifier extends Omit<NotifierDefinition<z.ZodMiniType>, "send"> {
  /** Null if the setting is missing, off, or was saved by a version with another schema. */
  open: (setting: unknown) => Channel | null;
}

export function defineNotifier<Schema extends z.ZodMiniType>(definition: NotifierDefinition<Schema>): Notifier {
  const { send, ...rest } = definition;
  return {
    ...rest,
    open(setting) {
      const parsed = z.safeParse(definition.schema, setting);
      if (!parsed.success || setting === false) return null;
      return (notification) => send(parsed.data, notification);
    },
  };
}

interface Notes {
  default?: unknown;
  examples?: unknown[];
}

/** Adds the texts that editors show. */
export function described<S extends z.ZodMiniType>(schema: S, description: string, notes: Notes = {}): S {
  z.globalRegistry.add(schema, { description, ...notes });
  return schema;
}

/** An optional key of a map. */
export function key<S extends z.ZodMiniType>(schema: S, description: string, notes: Notes = {}): z.ZodMiniOptional<S> {
  return z.optional(described(schema, description, notes));
}

export const webAddress = (): z.ZodMiniURL => z.url({ protocol: /^https?$/ });

const deadlineMs = 10_000;

/** The address may contain a secret, so no error repeats it. */
export async function postJson(address: string, body: unknown, headers: Record<string, string> = {}): Promise<void> {
  let status: number;
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "holdfast", ...headers },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(deadlineMs),
    });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    throw new Error(reason(error), { cause: error });
  }
  if (status < 200 || status >= 300) throw new Error(`the server returned status ${status}`);
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no response within ${deadlineMs / 1000} s`;
  const cause = error instanceof Error ? error.cause : null;
  const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
  return `the server could not be reached${code}`;
}
