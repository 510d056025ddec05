/** For tests of configuration text: the file that it is said to come from. */
export const file = "/repo/holdfast.yaml";
