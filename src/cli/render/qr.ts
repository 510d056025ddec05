/** A QR code of half blocks, two modules to a character. */
import { styleText } from "node:util";
import { renderUnicodeCompact } from "uqr";

/** With colors it is white on black in every theme: not all cameras read an inverted code. */
export function qrLines(text: string, colors: boolean): string[] {
  const lines = renderUnicodeCompact(text, { border: 2 }).split("\n");
  return colors ? lines.map((line) => styleText(["whiteBright", "bgBlack"], line, { validateStream: false })) : lines;
}
