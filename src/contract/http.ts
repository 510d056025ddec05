/** Removed once every importer names the new files. */
export { operations as routes, type OperationName as RouteName } from "./operations.ts";
export { streamProtocol, tokenProtocolPrefix } from "./stream.ts";
export { requestHeader } from "./caller.ts";
