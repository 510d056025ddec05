import { join } from "node:path";
import { toJson, writeFile, type LaneAgent } from "./lane-agent.ts";

export const opencode: LaneAgent = {
  packages: [{ name: "opencode-ai", version: "1.18.33", command: "opencode" }],
  prepare({ home, modelUrl }) {
    writeFile(join(home, ".config/opencode/opencode.json"), toJson(config(modelUrl)));
    return {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      // At its start it installs a package and waits for it; a closed port keeps it off the network, and without
      // retries it gives up immediately instead of after 70 s.
      NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
      NPM_CONFIG_FETCH_RETRIES: "0",
    };
  },
  asks: /Permission required/,
  allow: ["Enter"],
  conversations: [".local/share/opencode"],
  unknownConversation: "ses_0000000000000000000000",
  setting: { pick: { mode: "plan" }, method: "session/set_mode", value: "plan" },
  keeps: async (lane, conversation) => (await lane.own("opencode", "session", "list")).includes(conversation),
  // It knows that the scripted model accepts no images.
  insteadOfImage: "this model does not support image input",
  slowToResume: true,
};

function config(modelUrl: string): unknown {
  const limit = { context: 200_000, output: 8_000 };
  return {
    model: "scripted/scripted",
    small_model: "scripted/scripted",
    autoupdate: false,
    share: "disabled",
    permission: { bash: "ask", edit: "ask" },
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "scripted",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "scripted" },
        models: { scripted: { name: "scripted", tool_call: true, limit } },
      },
    },
  };
}
