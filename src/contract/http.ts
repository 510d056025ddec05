/** Removed once every importer names the new files. */
export { operations as routes } from "./operations.ts";
export { streamProtocol } from "./stream.ts";
