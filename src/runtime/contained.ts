/** What both runtimes do with a session that is to be contained: it is, or it is not launched. */
import type { Contained, Containing, ContainRequest } from "../ports/contain.ts";
import { HoldfastError } from "../protocol/error.ts";

/** Null for a session that is not contained. */
export async function containedLaunch(contain: Containing | null, request: ContainRequest): Promise<Contained | null> {
  const mode = request.session.contain?.mode ?? "off";
  if (mode === "off") return null;
  const contained = (await contain?.contain(request)) ?? null;
  if (contained !== null) return contained;
  throw new HoldfastError("preflight-failed", `${request.session.id} is to be contained, which is not possible here.`);
}
