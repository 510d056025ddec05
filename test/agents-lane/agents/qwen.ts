import { join } from "node:path";
import { cacheDirectory, searchPath, toJson, writeFile, type LaneAgent } from "./lane-agent.ts";

const settings = {
  security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
  model: { name: "scripted" },
  general: { disableAutoUpdate: true, disableUpdateNag: true },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

/** Its HTTP client does not work with Node 26: every request ends with "Connection error". */
const nodePackage = `node-${process.platform}-${process.arch}`;

export const qwen: LaneAgent = {
  packages: [
    { name: "@qwen-code/qwen-code", version: "0.15.10", command: "qwen" },
    { name: nodePackage, version: "22.23.3", command: null },
  ],
  // The others drive the same code with agents that start faster.
  suites: ["terminal", "chat"],
  prepare({ home, modelUrl }) {
    writeFile(join(home, ".qwen/settings.json"), toJson(settings));
    const PATH = `${join(cacheDirectory(), "node_modules", nodePackage, "bin")}:${searchPath()}`;
    return { PATH, OPENAI_API_KEY: "scripted", OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_MODEL: "scripted" };
  },
  asks: /Allow execution of/,
  allow: ["Enter"],
  conversations: [".qwen/projects"],
  insteadOfImage: "Unsupported image file",
};
