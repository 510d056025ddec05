/** The JSON Schema that editors read, made from the schema that the loader uses. `scripts/schema.ts` writes it. */
import * as z from "zod/mini";
import { configSchema, notes } from "./schema.ts";

export function jsonSchemaText(): string {
  const schema = z.toJSONSchema(configSchema, { target: "draft-7", metadata: notes, io: "input", override: tidy });
  return `${JSON.stringify({ title: "holdfast.yaml", ...schema }, null, 2)}\n`;
}

/** Limits that only say "a number JavaScript can hold" would puzzle a person. */
function tidy({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
