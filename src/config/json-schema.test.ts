import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonSchemaText } from "./json-schema.ts";

const shipped = readFileSync(join(import.meta.dirname, "../../schema/holdfast.schema.json"), "utf8");

test("[CONF-18] the shipped schema is what the loader checks by (else: node scripts/schema.ts)", () => {
  expect(shipped).toBe(jsonSchemaText());
});

test("[CONF-18] every key is described and unknown ones are errors", () => {
  const undescribed: string[] = [];
  const open: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties, additionalProperties, items } = value as Record<string, unknown>;
    if (properties !== undefined && additionalProperties !== false) open.push(path);
    for (const [key, child] of Object.entries(properties ?? {})) {
      if (typeof (child as Record<string, unknown>)["description"] !== "string") undescribed.push(`${path}.${key}`);
      walk(child, `${path}.${key}`);
    }
    walk(additionalProperties, `${path}.*`);
    walk(items, `${path}[]`);
  };
  walk(JSON.parse(shipped), "");
  expect({ undescribed, open }).toEqual({ undescribed: [], open: [] });
});
