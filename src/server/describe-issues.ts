/** zod's findings as sentences that name the place and what was expected. zod/mini ships without any text of its own. */
import type * as z from "zod/mini";

type Issue = z.core.$ZodIssue;

/** More than these help nobody. */
const maxIssues = 5;

export function describeIssues(issues: readonly Issue[], value: unknown, knownKeys: readonly string[]): string {
  const sentences = issues.slice(0, maxIssues).map((issue) => describe(issue, value, knownKeys));
  const rest = issues.length - sentences.length;
  return `${sentences.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}.`;
}

function describe(issue: Issue, value: unknown, knownKeys: readonly string[]): string {
  const place = issue.path.length === 0 ? "the body" : issue.path.map(String).join(".");
  switch (issue.code) {
    case "invalid_type":
      return `${place}: expected ${issue.expected}, got ${kindOf(valueAt(value, issue.path))}`;
    case "invalid_value":
      return `${place}: expected one of ${issue.values.map((each) => JSON.stringify(each)).join(", ")}`;
    case "unrecognized_keys": {
      const keys = issue.keys.map((key) => JSON.stringify(key)).join(", ");
      const known = issue.path.length === 0 && knownKeys.length > 0 ? ` (known: ${knownKeys.join(", ")})` : "";
      return `${place}: unknown key ${keys}${known}`;
    }
    case "too_small":
      return `${place}: expected ${issue.inclusive === false ? "more than" : "at least"} ${amount(issue.minimum, issue.origin)}`;
    case "too_big":
      return `${place}: expected ${issue.inclusive === false ? "less than" : "at most"} ${amount(issue.maximum, issue.origin)}`;
    case "invalid_format":
      return `${place}: expected ${issue.pattern === undefined ? `the form "${issue.format}"` : `text like ${issue.pattern}`}`;
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
    default:
      return `${place}: not valid (${issue.code})`;
  }
}

function amount(limit: number | bigint, origin: string): string {
  if (origin === "string") return `${limit} character${Number(limit) === 1 ? "" : "s"}`;
  if (origin === "array") return `${limit} item${Number(limit) === 1 ? "" : "s"}`;
  return String(limit);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return found;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
