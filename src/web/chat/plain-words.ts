/**
 * One line of words and the commonest marks between them: nothing that markdown reads as anything else, so it need not
 * be read as markdown at all. When in doubt it is not plain.
 */
const oneLine = /^(?!\d+[.)])[\p{L}\p{N}][\p{L}\p{N} ,.;'"()%?!/]*\n?$/u;
/** Longer ones are rarely plain to their end. */
const longest = 2_000;

export function isPlain(text: string): boolean {
  return text.length <= longest && oneLine.test(text) && !/www\./i.test(text);
}
