/** Writes schema/holdfast.schema.json and schema/config.schema.json. A test fails when a file differs from this output. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchemaText, userJsonSchemaText } from "../src/config/json-schema.ts";

writeFileSync(join(import.meta.dirname, "../schema/holdfast.schema.json"), jsonSchemaText());
writeFileSync(join(import.meta.dirname, "../schema/config.schema.json"), userJsonSchemaText());
