/**
 * The JSON Schemas for editors, generated from the loader's schemas. Run directly, it writes
 * schema/holdfast.schema.json and schema/config.schema.json; a test fails if a file differs.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { configSchema, userConfigSchema } from "../src/config/schema.ts";

export function jsonSchemaText(): string {
  const schema = jsonSchema("holdfast.yaml", configSchema);
  // A repository's `notify` loads only so that older files keep working: an editor should not offer it.
  delete schema.properties?.["notify"];
  return textOf(schema);
}

/** The schema of the user's own config.yaml. */
export function userJsonSchemaText(): string {
  return textOf(jsonSchema("config.yaml", userConfigSchema));
}

function jsonSchema(title: string, schema: z.ZodMiniType): z.core.JSONSchema.BaseSchema {
  return { title, ...z.toJSONSchema(schema, { target: "draft-7", io: "input", override: withoutIntegerBounds }) };
}

function textOf(schema: z.core.JSONSchema.BaseSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Bounds that only mean "a number that JavaScript can represent" would confuse readers. */
function withoutIntegerBounds({ jsonSchema: schema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, "../schema/holdfast.schema.json"), jsonSchemaText());
  writeFileSync(join(import.meta.dirname, "../schema/config.schema.json"), userJsonSchemaText());
}
