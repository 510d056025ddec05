import { join } from "node:path";
import { toJson, writeFile, type LaneAgent } from "./lane-agent.ts";

const settings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  // Fixed, or each turn starts with a request that asks which model to use.
  model: { name: "gemini-2.5-pro" },
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    sessionRetention: { enabled: false },
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

export const gemini: LaneAgent = {
  packages: [{ name: "@google/gemini-cli", version: "0.61.0", command: "gemini" }],
  prepare({ home, modelUrl }) {
    writeFile(join(home, ".gemini/settings.json"), toJson(settings));
    return { GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: modelUrl };
  },
  asks: /Allow execution/,
  allow: ["Enter"],
  conversations: [".gemini/tmp"],
  setting: { pick: { model: "gemini-2.5-flash" }, method: "session/set_model", value: "gemini-2.5-flash" },
  keeps: async (lane) => lane.transcripts().some((text) => text.includes("a secret word")),
  hooksNeedOwnFolder: true,
  slowToResume: true,
};
