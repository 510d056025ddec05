/** Every notification channel. The configuration schema, its error messages and the sender read this list. */
export { desktop } from "./desktop.ts";
export { ntfy } from "./ntfy.ts";
export { slack } from "./slack.ts";
export { webhook } from "./webhook.ts";
