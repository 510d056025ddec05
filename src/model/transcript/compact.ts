/** Items as the snapshot stores them: input and output of tools are shortened; events have all of it. */
import type { ToolItem, TranscriptItem } from "../../contract/transcript.ts";

/** Of each of a tool call's content, input and output. */
const maxFieldChars = 16 * 1024;
/** About the size of one value's name, quotes and brackets. */
const perValue = 8;
/** No real tool nests deeper. */
const maxDepth = 32;

/** Returns the same object if nothing had to be shortened. Shortening again changes nothing. */
export function compactItem(item: TranscriptItem): TranscriptItem {
  if (item.item !== "tool") return item;
  const content = shorten(item.content);
  const rawInput = shorten(item.rawInput);
  const rawOutput = shorten(item.rawOutput);
  if (!content.cut && !rawInput.cut && !rawOutput.cut) return item;
  const tool: ToolItem = { ...item, content: content.value as unknown[], rawInput: rawInput.value, cut: true };
  return { ...tool, rawOutput: rawOutput.value };
}

function shorten(value: unknown): { value: unknown; cut: boolean } {
  const room = { left: maxFieldChars, cut: false };
  return { value: take(value, room, 0), cut: room.cut };
}

function take(value: unknown, room: { left: number; cut: boolean }, depth: number): unknown {
  room.left -= perValue;
  if (typeof value === "string") {
    const length = Math.max(room.left, 0);
    room.left -= value.length;
    if (value.length <= length) return value;
    room.cut = true;
    return value.slice(0, length);
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth === maxDepth) {
    room.cut = true;
    return null;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value as unknown[]) {
      if (room.left <= 0) {
        room.cut = true;
        break;
      }
      items.push(take(item, room, depth + 1));
    }
    return items;
  }
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    room.left -= name.length;
    if (room.left <= 0) {
      room.cut = true;
      break;
    }
    fields[name] = take(field, room, depth + 1);
  }
  return fields;
}
