export { eventPageChars, isLastPage } from "./stream.ts";
