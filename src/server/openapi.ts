/** The OpenAPI 3.1 document, derived from the contract. Loaded on request. */
import type * as zod from "zod/mini";
import { deviceScheme, requestText } from "../contract/device-proof.ts";
import { errorStatus } from "../contract/errors.ts";
import { schemas, type Operation, type Schema } from "../contract/operation.ts";
import { operation, operationNames, parameterNames, type OperationName } from "../contract/operations.ts";
import { agentRights } from "../contract/rights.ts";

type Json = Record<string, unknown>;

const prefix = "#/components/schemas/";

export async function describeApi(daemon: { version: string; build: string }): Promise<Json> {
  const paths: Record<string, Json> = {};
  for (const name of operationNames) {
    const described = operation(name);
    const methods = (paths[described.path] ??= {});
    methods[described.method.toLowerCase()] = describeOperation(name, described);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: daemon.version,
      "x-build": daemon.build,
      description: `The daemon's API. Its unix socket requires no credential; over TCP scripts send the main token and browsers sign each request with their device's key. x-right is the right that a device needs.\n\n${describeRights()}`,
    },
    paths,
    components: {
      schemas: describeSchemas(await import("zod/mini")),
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        device: {
          type: "http",
          scheme: deviceScheme,
          description: `device=<id>, nonce=<of GET /api/challenge>, n=<number, used once with the nonce>, body=<SHA-256 of the body, or empty>, sig=<ECDSA P-256 over the lines: ${requestText({ nonce: "nonce", count: 0, body: "body" }, { method: "method", path: "path and query", origin: "origin of the page" }).replace("0", "n").replaceAll("\n", ", ")}>`,
        },
      },
    },
    security: [{ token: [] }, { device: [] }],
  };
}

/** As Markdown, which this field may contain. */
function describeRights(): string {
  const rows = Object.values(agentRights).map(({ may, limit }) => `| ${may} | ${limit} |`);
  const table = ["| An agent may | Within these limits |", "| --- | --- |", ...rows].join("\n");
  return `Agents that Holdfast launched are identified by their processes and capabilities; all other operations are for the user only:\n\n${table}`;
}

function describeOperation(name: OperationName, { path, summary, who, query, input, output }: Operation): Json {
  const isOpen = who.device === "anyone";
  return {
    operationId: name,
    summary,
    ...(isOpen || who.device === "socket-only" ? { "x-access": who.device } : {}),
    // Which row of the table in `info` lets an agent call it, if any does.
    "x-agents": who.agent ?? "never",
    ...(isOpen ? { security: [] } : { "x-right": who.device === "socket-only" ? "all" : who.device }),
    parameters: [
      ...parameterNames(path).map((param) => parameter(param, "path")),
      ...Object.entries(query ?? {}).map(([param, about]) => parameter(param, "query", about)),
    ],
    ...(input === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: reference(input) } } } }),
    responses: {
      ...success(name, summary, output),
      default: { description: "Refused or failed", content: { "application/json": { schema: error } } },
    },
  };
}

function success(name: OperationName, description: string, output: Schema): Json {
  const schema = reference(output);
  if (name === "stream" || name === "terminal")
    return { "101": { description: "A WebSocket whose messages are frames", "x-message": schema } };
  if (name === "attachment") {
    return { "200": { description, content: { "image/*": { schema: { type: "string", format: "binary" } } } } };
  }
  const type = name === "sse" ? "text/event-stream" : "application/json";
  return { "200": { description, content: { [type]: { schema } } } };
}

function parameter(name: string, place: "path" | "query", description?: string): Json {
  const about = description === undefined ? {} : { description };
  return { name, in: place, required: place === "path", schema: { type: "string" }, ...about };
}

function reference({ id }: Pick<Schema, "id">): Json {
  if (!id.endsWith("[]")) return { $ref: prefix + id };
  return { type: "array", items: { $ref: prefix + id.slice(0, -2) } };
}

const error = { $ref: `${prefix}error` };

/** Schemas that are part of others become references, because all are registered by name. */
function describeSchemas(z: typeof zod): Json {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) if (!schema.id.endsWith("[]")) registry.add(schema(z), { id: schema.id });
  const described = Object.entries(z.toJSONSchema(registry, { uri: (id) => prefix + id }).schemas);
  return {
    // Inside a document `$schema` and `$id` would give each schema its own address, where no reference resolves.
    ...Object.fromEntries(described.map(([id, schema]) => [id, { ...schema, $schema: undefined, $id: undefined }])),
    error: {
      type: "object",
      required: ["error"],
      properties: {
        error: {
          type: "object",
          required: ["code", "message", "hint"],
          properties: {
            code: { enum: Object.keys(errorStatus) },
            message: { type: "string" },
            hint: { type: ["string", "null"] },
          },
        },
      },
    },
  };
}
