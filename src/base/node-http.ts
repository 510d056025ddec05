/**
 * node:http, got without `import`. An import statement reads every export of a built-in module, and node:http has
 * getters (WebSocket, CloseEvent, MessageEvent) that load all of fetch: some 45 ms of start for nothing.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
