/** The OpenAPI 3.1 document, made from the route table and the schemas. Loaded when somebody asks for it. */
import * as z from "zod/mini";
import * as command from "../protocol/command.ts";
import { errorStatus } from "../protocol/error.ts";
import { routes } from "../protocol/http.ts";
import type { Route } from "../protocol/route.ts";
import * as wire from "../protocol/wire.ts";

type Json = Record<string, unknown>;

const prefix = "#/components/schemas/";

export function describeApi(daemon: { version: string; build: string }): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries(routes) as [string, Route][]) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = describeRoute(name, route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: daemon.version,
      "x-build": daemon.build,
      description: "The daemon's API, over its unix socket without a token and over TCP with one.",
    },
    paths,
    components: {
      schemas: describeSchemas(),
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
    security: [{ token: [] }],
  };
}

function describeRoute(name: string, route: Route): Json {
  return {
    operationId: name,
    summary: route.summary,
    ...(route.access === undefined ? {} : { "x-access": route.access }),
    ...(route.access === "anyone" ? { security: [] } : {}),
    parameters: [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, param]) => parameter(param ?? "", "path")),
      ...Object.entries(route.query ?? {}).map(([param, about]) => parameter(param, "query", about)),
    ],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: reference(route.body) } } } }),
    responses: {
      ...success(name, route),
      default: { description: "Refused or failed", content: { "application/json": { schema: reference("error") } } },
    },
  };
}

function success(name: string, route: Route): Json {
  const schema = reference(route.answer);
  if (name === "stream" || name === "terminal")
    return { "101": { description: "A WebSocket whose messages are frames", "x-message": schema } };
  if (name === "attachment") {
    const image = { schema: { type: "string", format: "binary" } };
    return { "200": { description: route.summary, content: { "image/*": image } } };
  }
  const type = name === "sse" ? "text/event-stream" : "application/json";
  return { "200": { description: route.summary, content: { [type]: { schema } } } };
}

function parameter(name: string, place: "path" | "query", description?: string): Json {
  const about = description === undefined ? {} : { description };
  return { name, in: place, required: place === "path", schema: { type: "string" }, ...about };
}

function reference(name: string): Json {
  if (!name.endsWith("[]")) return { $ref: prefix + name };
  return { type: "array", items: { $ref: prefix + name.slice(0, -2) } };
}

function describeSchemas(): Record<string, Json> {
  return {
    ...convert(command, "input"),
    ...convert(wire, "output"),
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
    openapi: { type: "object", description: "This document" },
    frame: { oneOf: [hello, snapshot, events] },
  };
}

/** Schemas that others hold become references, because all of them are registered by name. */
function convert(module: Record<string, unknown>, io: "input" | "output"): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, value] of Object.entries(module)) if (isSchema(value)) registry.add(value, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => prefix + id, io });
  const described: Record<string, Json> = {};
  for (const [id, schema] of Object.entries(schemas)) {
    // Inside a document these two would give each schema an address of its own, where no reference resolves.
    described[id] = { ...schema, $schema: undefined, $id: undefined };
  }
  return described;
}

function isSchema(value: unknown): value is z.ZodMiniType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

const cursor = { type: "integer", description: "Where the follower stands; resume with ?after=" };
const sessions = { type: "array", items: { $ref: `${prefix}sessionJson` } };
const frame = (name: string, properties: Json): Json => ({
  type: "object",
  required: ["frame", "cursor", ...Object.keys(properties)],
  properties: { frame: { const: name }, cursor, ...properties },
});
const hello = frame("hello", { version: { type: "string" }, build: { type: "string" } });
const snapshot = frame("snapshot", { sessions });
const events = frame("events", {
  events: {
    type: "array",
    items: {
      allOf: [
        { $ref: `${prefix}eventJson` },
        { type: "object", required: ["session"], properties: { session: { type: "string" } } },
      ],
    },
  },
  sessions,
});
