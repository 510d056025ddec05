/** Every built-in agent, one line each. A definition is a function if it depends on the machine. */
export { claude } from "./claude.ts";
export { codex } from "./codex.ts";
export { demo } from "./demo.ts";
export { gemini } from "./gemini.ts";
export { opencode } from "./opencode.ts";
export { qwen } from "./qwen.ts";
export { shell } from "./shell.ts";
