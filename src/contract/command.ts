/** Where the requests used to be; removed once every importer names the noun's own file. */
export type * from "./wire.ts";
export { imageTypes, maxPromptBytes } from "./prompt.ts";
