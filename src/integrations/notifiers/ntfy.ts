import * as z from "zod/mini";
import { defineNotifier, described, key, postJson, webAddress } from "./notifier.ts";

const publicServer = "https://ntfy.sh";
const priorities = { min: 1, low: 2, default: 3, high: 4, max: 5 };

/** Publishes as JSON to the server's root, because the headers of ntfy's other form accept ASCII only. */
export const ntfy = defineNotifier({
  name: "ntfy",
  description: "Push notifications through ntfy.sh, or a self-hosted ntfy server.",
  schema: z.strictObject({
    topic: described(
      z.string().check(z.regex(/^[-_A-Za-z0-9]{1,64}$/)),
      "Topic to publish to. On a public server anyone who knows it can read it: choose one that is hard to guess.",
    ),
    server: key(webAddress(), "Address of the server.", { default: publicServer }),
    token: key(z.string().check(z.minLength(1)), "Access token, for a server that requires one."),
    priority: key(z.enum(["min", "low", "default", "high", "max"]), "Priority of the notifications.", {
      default: "default",
    }),
    tags: key(z.array(z.string()), "Tags; ntfy shows known names as emoji.", { examples: [["robot"]] }),
  }),
  quotable: ["priority", "tags"],
  send: ({ topic, server = publicServer, token, priority = "default", tags = [] }, { title, text }) => {
    const click = /https?:\/\/\S+$/.exec(text)?.[0];
    return postJson(
      server,
      {
        topic,
        title,
        message: text,
        priority: priorities[priority],
        tags,
        ...(click === undefined ? {} : { click }),
      },
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    );
  },
});
