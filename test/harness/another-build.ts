import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

/** A copy of the program with another build id; returns its command. */
export function anotherBuild(home: Home, name: string): string {
  const other = join(home.directory, name);
  const { build } = home.daemon();
  for (const part of ["bin", "dist"])
    cpSync(join(import.meta.dirname, "../..", part), join(other, part), { recursive: true, preserveTimestamps: true });
  for (const file of readdirSync(join(other, "dist"), { recursive: true, encoding: "utf8" })) {
    const path = join(other, "dist", file);
    const text = /\.(cjs|json)$/.test(file) ? readFileSync(path, "utf8") : "";
    if (text.includes(build)) writeFileSync(path, text.replaceAll(build, `9.9.9+${name}`));
  }
  return join(other, "bin/holdfast");
}
