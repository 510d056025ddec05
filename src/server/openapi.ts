/** The OpenAPI 3.1 document, made from the route table and the schemas. Loaded when somebody asks for it. */
import * as z from "zod/mini";
import * as command from "../contract/command.ts";
import { errorStatus } from "../contract/error.ts";
import { agentRights, rightWords } from "../contract/agent-rights.ts";
import { deviceScheme, requestText } from "../contract/device-proof.ts";
import { routes, type RouteName } from "../contract/http.ts";
import { routeRights } from "../contract/rights.ts";
import type { Route } from "../contract/route.ts";
import * as wire from "../contract/wire.ts";

type Json = Record<string, unknown>;

const prefix = "#/components/schemas/";

export function describeApi(daemon: { version: string; build: string }): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = describeRoute(name, route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version: daemon.version,
      "x-build": daemon.build,
      description: `The daemon's API. Over its unix socket it asks for no proof; over TCP scripts send the main token and browsers sign each request with their device's key. x-right is the right that a device needs.\n\n${describeRights()}`,
    },
    paths,
    components: {
      schemas: describeSchemas(),
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

/** As Markdown, which this field may hold. */
function describeRights(): string {
  const rows = Object.values(rightWords).map(({ may, limit }) => `| ${may} | ${limit} |`);
  const table = ["| An agent may | Within these limits |", "| --- | --- |", ...rows].join("\n");
  return `Agents that Holdfast launched are identified by their processes and capabilities; all other routes are the person's alone:\n\n${table}`;
}

function describeRoute(name: RouteName, route: Route): Json {
  return {
    operationId: name,
    summary: route.summary,
    ...(route.access === undefined ? {} : { "x-access": route.access }),
    // Which row of the table in `info` lets an agent ask this, if any does.
    "x-agents": agentRights[name] ?? "never",
    ...(route.access === "anyone" ? { security: [] } : { "x-right": routeRights[name] }),
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
