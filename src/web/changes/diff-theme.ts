/** The diff's colours are the page's tokens, so that it follows light and dark like everything else. */
import { registerCustomCSSVariableTheme } from "@pierre/diffs";

export const themeName = "holdfast";

registerCustomCSSVariableTheme(themeName, {
  foreground: "var(--color-text)",
  background: "var(--color-panel)",
  "token-constant": "var(--color-busy)",
  "token-string": "var(--color-good)",
  "token-comment": "var(--color-dim)",
  "token-keyword": "var(--color-accent)",
  "token-parameter": "var(--color-text)",
  "token-function": "var(--color-alert)",
  "token-string-expression": "var(--color-good)",
  "token-punctuation": "var(--color-dim)",
  "token-link": "var(--color-accent)",
});

/** Set on an element round the diffs; their own style sheet reads them. */
export const diffLook = {
  "--diffs-font-family": "var(--font-mono)",
  "--diffs-font-size": "12px",
  "--diffs-line-height": "18px",
  "--diffs-addition-color-override": "var(--color-good)",
  "--diffs-deletion-color-override": "var(--color-danger)",
  "--diffs-modified-color-override": "var(--color-busy)",
  // Weaker than its own, on which coloured words would be hard to read.
  "--diffs-bg-addition-emphasis-override": "color-mix(in srgb, var(--color-good) 8%, transparent)",
  "--diffs-bg-deletion-emphasis-override": "color-mix(in srgb, var(--color-danger) 8%, transparent)",
  "--diffs-bg-separator-override": "var(--color-sunken)",
  "--diffs-fg-number-override": "var(--color-dim)",
  "--diffs-fg-number-addition-override": "var(--color-good)",
  "--diffs-fg-number-deletion-override": "var(--color-danger)",
} as React.CSSProperties;
