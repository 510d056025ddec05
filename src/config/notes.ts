/** Texts and defaults that editors show; looked up by schema object. */
import * as z from "zod/mini";

export const notes = z.registry<{ description: string; default?: unknown; examples?: unknown[] }>();
