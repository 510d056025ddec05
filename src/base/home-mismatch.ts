/** A home that is found in another directory than before: the start refuses it, and `doctor` reports it. */

/** The setting in which the database names its home. */
export const homeIdentitySetting = "home.identity";

export function homeMismatch(before: string, now: string): { message: string; hint: string } {
  return {
    message: `This home was last started in ${before}; now it is in ${now}. Holdfast does not start until you choose what happened to it.`,
    hint: [
      "If you moved it: holdfast start --moved",
      "If it is a copy: holdfast start --copied (its sessions stay with the original; the copy keeps their transcripts)",
    ].join("\n"),
  };
}
