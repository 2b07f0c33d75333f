import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHIPPED_SCHEMAS, schemaText } from "../build-service/src/schemas/schema-files.ts";
import { jsonSchemas } from "../build-service/src/schemas/schemas.ts";

// Writes the JSON Schemas that are shipped, from what checks the files that they describe.
rmSync(SHIPPED_SCHEMAS, { recursive: true, force: true });
mkdirSync(SHIPPED_SCHEMAS);
for (const [name, schema] of jsonSchemas()) writeFileSync(join(SHIPPED_SCHEMAS, name), schemaText(schema));
