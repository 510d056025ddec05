/** Turns a tool step into a call of the agent's matching tool. */
import type { Schema, Tool, ToolCall } from "./conversation.ts";
import type { Json } from "./json.ts";
import type { ToolStep } from "./script.ts";

const shellTools = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"];
const writeTools = ["Write", "write", "write_file"];

/** Undefined if the agent offers no tool for the step. */
export function toToolCall(step: ToolStep, tools: Tool[], id: string): ToolCall | undefined {
  switch (step.kind) {
    case "call":
      return { id, name: step.tool, input: step.input };
    case "shell": {
      const tool = firstOffered(shellTools, tools);
      return tool && { id, name: tool.name, input: shellInput(tool, step.command) };
    }
    case "write": {
      const values = { file_path: step.path, filePath: step.path, content: step.text };
      const tool = firstOffered(writeTools, tools);
      return tool ? { id, name: tool.name, input: fill(tool, values) } : patchCall(step.path, step.text, tools, id);
    }
    default:
      return step satisfies never;
  }
}

function patchCall(path: string, text: string, tools: Tool[], id: string): ToolCall | undefined {
  const tool = firstOffered(["apply_patch"], tools);
  if (tool === undefined) return undefined;
  const patch = `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n`;
  return { id, name: tool.name, input: tool.schema ? { input: patch } : patch };
}

function firstOffered(names: string[], tools: Tool[]): Tool | undefined {
  for (const name of names) {
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool) return tool;
  }
  return undefined;
}

function shellInput(tool: Tool, command: string): Json {
  const takesArray = tool.schema?.properties?.["command"]?.type === "array";
  return fill(tool, { command: takesArray ? ["bash", "-c", command] : command, cmd: command });
}

/** Keeps the values for which the tool has a property, and gives every other required property a stand-in. */
function fill(tool: Tool, values: Json): Json {
  const input: Json = {};
  for (const [name, property] of Object.entries(tool.schema?.properties ?? {})) {
    if (name in values) input[name] = values[name];
    else if (tool.schema?.required?.includes(name)) input[name] = standIn(property);
  }
  return input;
}

/** A value that fits a schema and means nothing. */
export function standIn(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type?.toLowerCase() ?? "string") {
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, standIn(schema.properties?.[name] ?? {})]),
      );
    default:
      return "scripted";
  }
}
