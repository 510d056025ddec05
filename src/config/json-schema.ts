/** The JSON Schema that editors read, made from the schema that the loader uses. `scripts/schema.ts` writes it. */
import * as z from "zod/mini";
import { notes } from "./notes.ts";
import { configSchema, userConfigSchema } from "./schema.ts";

export function jsonSchemaText(): string {
  return textOf("holdfast.yaml", configSchema);
}

/** Of the user's own config.yaml. */
export function userJsonSchemaText(): string {
  return textOf("config.yaml", userConfigSchema);
}

function textOf(title: string, of: typeof configSchema | typeof userConfigSchema): string {
  const schema = z.toJSONSchema(of, { target: "draft-7", metadata: notes, io: "input", override: tidy });
  // In a repository's file it only loads so that older files keep working: an editor should not offer it.
  if (of === configSchema) delete schema.properties?.["notify"];
  return `${JSON.stringify({ title, ...schema }, null, 2)}\n`;
}

/** Limits that only say "a number JavaScript can hold" would puzzle a person. */
function tidy({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
