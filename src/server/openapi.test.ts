import { expect, test } from "vitest";
import { operation, operationNames } from "../contract/operations.ts";
import { openTestApi } from "./api.fixture.ts";
import { describeApi } from "./openapi.ts";

type Json = Record<string, unknown>;
const document = JSON.parse(JSON.stringify(await describeApi({ version: "1.2.3", build: "1.2.3+abc" }))) as {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, Json> };
};

test("[API-18] every route stands in the OpenAPI 3.1 document, with its parameters, body and answer", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toMatchObject({ title: "Holdfast", version: "1.2.3" });
  for (const name of operationNames) {
    const route = operation(name);
    const described = document.paths[route.path]?.[route.method.toLowerCase()] ?? {};
    expect(described).toMatchObject({ operationId: name, summary: route.summary });
    const parameters = (described["parameters"] as { name: string; in: string }[]).map((each) => each.name);
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(parameters).toEqual([...inPath, ...Object.keys(route.query ?? {})]);
    expect(described["requestBody"] !== undefined).toBe(route.input !== undefined);
    expect(Object.keys(described["responses"] as Json)).toContain("default");
  }
});

test("[AUTHORIZE-7] the document says which routes an agent may ask, and within which limits", () => {
  const agents = (path: string, method: string): unknown => document.paths[path]?.[method]?.["x-agents"];
  expect(agents("/api/sessions/{id}/prompts", "post")).toBe("message");
  expect(agents("/api/sessions/{id}/kill", "post")).toBe("never");
  expect(agents("/api/login-link", "post")).toBe("never");
  expect(document.info.description).toContain("| Send a message | To sessions of its own project; never a shell;");
});

test("[API-18] every reference in the document resolves, and unknown body keys are ruled out", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(50);
  for (const reference of references) {
    expect(document.components.schemas).toHaveProperty([reference.replace("#/components/schemas/", "")]);
  }
  expect(document.components.schemas["verbResponse"]).toMatchObject({
    properties: { session: { $ref: "#/components/schemas/sessionJson" } },
  });
  expect(document.components.schemas["promptRequest"]).toMatchObject({
    additionalProperties: false,
    required: ["promptId", "text"],
  });
});

test("[API-18] it is served at /openapi.json, to those with a token", async () => {
  const it = await openTestApi();
  try {
    expect((await it.tcp("GET", "/openapi.json")).json).toEqual(document);
    expect((await it.tcp("GET", "/openapi.json", { headers: { authorization: undefined } })).status).toBe(401);
  } finally {
    await it.close();
  }
});
