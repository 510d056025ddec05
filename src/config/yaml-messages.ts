/** The YAML library's errors in our words: what is wrong, and what to do about it. */
import type { ErrorCode, YAMLError } from "yaml";

export interface Message {
  message: string;
  hint: string | null;
}

export function syntaxMessage(error: YAMLError): Message {
  const text = error.message;
  if (error.code === "MISSING_CHAR") {
    if (text.includes("quote")) return { message: "this quote is never closed", hint: null };
    return text.includes("map keys") ? missingColon : { message: "a bracket or comma is missing", hint: null };
  }
  if (error.code === "BAD_INDENT" && text.startsWith("Flow")) {
    return { message: "a [ or { above is not closed before this line", hint: "close it, or indent this line further" };
  }
  if (error.code === "BAD_SCALAR_START") {
    const character = text.at(-1) ?? "";
    return { message: `a value may not start with ${character}`, hint: "put it in quotes" };
  }
  if (text.includes("call stack")) return { message: "is nested too deeply", hint: null };
  return messages[error.code] ?? { message: `is not valid YAML: ${text.split("\n")[0] ?? ""}`, hint: null };
}

export function aliasMessage(reason: string): Message {
  const unresolved = /^Unresolved alias.*: (.*)$/.exec(reason)?.[1];
  if (unresolved !== undefined) return { message: `nothing above is marked &${unresolved}`, hint: null };
  if (reason.includes("alias count")) return { message: "uses aliases too often", hint: "write the values out" };
  return { message: `is not valid YAML: ${reason}`, hint: null };
}

const missingColon = { message: 'a key without ":"', hint: 'write it as "key: value"' };

const messages: Partial<Record<ErrorCode, Message>> = {
  TAB_AS_INDENT: { message: "tabs may not be used to indent", hint: "use spaces" },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second ": " in one line',
    hint: "put the value in quotes, or check the indentation",
  },
  MULTILINE_IMPLICIT_KEY: missingColon,
  BAD_INDENT: { message: "wrong indentation", hint: "lines of one map start in the same column" },
  BAD_DQ_ESCAPE: {
    message: "unknown escape in double quotes",
    hint: "use single quotes, or write \\\\ for a backslash",
  },
  MULTIPLE_DOCS: { message: "a second document starts here", hint: "remove the line ---" },
  UNEXPECTED_TOKEN: { message: "unexpected text", hint: "check the indentation and brackets above" },
  TAG_RESOLVE_FAILED: { message: "unknown tag", hint: "remove the word that starts with !" },
};
