/** What this program is: the package's version and the commit it was built from, put in by the build. */
declare const __HOLDFAST_VERSION__: string | undefined;
declare const __HOLDFAST_BUILD__: string | undefined;

export const version: string = typeof __HOLDFAST_VERSION__ === "string" ? __HOLDFAST_VERSION__ : "0.0.0";
export const build: string = typeof __HOLDFAST_BUILD__ === "string" ? __HOLDFAST_BUILD__ : "source";
