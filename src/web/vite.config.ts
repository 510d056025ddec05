/** The dashboard's bundle. `scripts/build.ts` sets its output folder. */
import { join } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { fewLanguages } from "../../scripts/few-languages.ts";

/** See chat/no-html.ts. */
const unused = ["rehype-raw", "rehype-sanitize", "rehype-harden"];

export default defineConfig({
  root: import.meta.dirname,
  publicDir: "public",
  plugins: [fewLanguages(), react(), tailwindcss()],
  resolve: { alias: Object.fromEntries(unused.map((name) => [name, join(import.meta.dirname, "chat/no-html.ts")])) },
  build: { target: "es2024", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2_000 },
});
