import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonSchemaText, userJsonSchemaText } from "../scripts/schema.ts";

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../schema", name), "utf8");
const shipped = read("holdfast.schema.json");
const shippedUser = read("config.schema.json");

test("[CONFIG-19] the shipped schema matches the loader's (else: node scripts/schema.ts)", () => {
  expect(shipped).toBe(jsonSchemaText());
  expect(shippedUser).toBe(userJsonSchemaText());
});

test("[CONFIG-19] every key is described and unknown ones are errors", () => {
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
  for (const text of [shipped, shippedUser]) walk(JSON.parse(text), "");
  expect({ undescribed, open }).toEqual({ undescribed: [], open: [] });
});
