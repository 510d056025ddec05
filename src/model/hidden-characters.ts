/**
 * Characters that nobody sees, for a character class with the flag `u`: soft hyphen, bidi controls, zero-width characters,
 * line separators, invisible operators, annotations, tag characters and the variation selectors behind them. Text can be
 * hidden in them that a model reads and a person does not.
 */
export const hiddenCharacters = String.raw`\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}`;
