/** What an option of a permission request does. Its name is the agent's own word: "Reject" may allow everything. */
const known: Record<string, string> = {
  allow_once: "allow once",
  allow_always: "allow always",
  reject_once: "reject once",
  reject_always: "reject always",
};

export function optionKindWords(kind: string): string {
  if (Object.hasOwn(known, kind)) return known[kind]!;
  return kind === "" ? "effect not stated" : `effect unknown: ${kind}`;
}
