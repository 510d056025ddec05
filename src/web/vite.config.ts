/** The dashboard's bundle. `scripts/build.ts` says where it goes. */
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { fewLanguages } from "./vite-languages.ts";

export default defineConfig({
  root: import.meta.dirname,
  publicDir: "public",
  plugins: [fewLanguages(), react(), tailwindcss()],
  build: { target: "es2024", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2_000 },
});
