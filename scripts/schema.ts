/** Writes schema/holdfast.schema.json. A test fails when the file is not what this would write. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchemaText } from "../src/config/json-schema.ts";

writeFileSync(join(import.meta.dirname, "../schema/holdfast.schema.json"), jsonSchemaText());
