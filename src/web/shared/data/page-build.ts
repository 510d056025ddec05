/** The build that this page came from. A daemon of another one may speak another language. */
declare const __HOLDFAST_BUILD__: string;

export const pageBuild: string = __HOLDFAST_BUILD__;
