/** The shape of `contain`. */
import * as z from "zod/mini";
import { containModes, namedCaches } from "../contract/containment.ts";
import { notes } from "./notes.ts";
import { rule, words, containPathFault, hostFault } from "./values.ts";

const placeWords = z.array(words().check(rule(containPathFault)));

export const containment = z
  .union([
    z.enum(containModes),
    z.strictObject({
      mode: z.optional(z.enum(containModes).register(notes, { description: "Same as the short form." })),
      network: z.optional(
        z
          .union([
            z.enum(["on", "off"]),
            z.strictObject({
              allow: z.array(z.string().check(rule(hostFault))).register(notes, {
                description:
                  "Hosts that agents may reach besides their own models: host, host:port, *.host, or * for every public host. A private address needs host:port.",
              }),
            }),
          ])
          .register(notes, { description: "What of the network agents reach.", default: "on" }),
      ),
      read: z.optional(
        placeWords.register(notes, {
          description: `Files and folders that agents see beside the worktree: absolute, from ~/, or a package cache (${Object.keys(namedCaches).join(", ")}).`,
          examples: [["~/reference"]],
        }),
      ),
      write: z.optional(
        z.array(words().check(rule(containPathFault))).register(notes, {
          description: "The same, writable. What agents write there other programs may run: caches are shared.",
          examples: [["npm", "pip"]],
        }),
      ),
    }),
  ])
  .register(notes, {
    description:
      "How agents are shut in. worktree: with bubblewrap, so that they see and change only their worktree, branch and own state. devcontainer: in the repository's dev container. A repository's file can only tighten what your own config.yaml says.",
    default: "off",
  });

export type ContainConfig = z.infer<typeof containment>;
