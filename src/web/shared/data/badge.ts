/** The page's icon with a count on it. As a data address: it is an image, and the content policy allows those. */
const most = 99;

export function badgedIcon(count: number): string {
  const text = count > most ? `${most}+` : String(count);
  const width = 10 + text.length * 6;
  const svg = [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    '<rect width="32" height="32" rx="7" fill="#0f5c4d"/>',
    '<path d="M10 6v20M22 6v20M10 16h12" stroke="#fff" stroke-width="4" stroke-linecap="round"/>',
    `<rect x="${32 - width}" y="16" width="${width}" height="16" rx="8" fill="#d9480f"/>`,
    `<text x="${32 - width / 2}" y="28" font-family="sans-serif" font-size="12" font-weight="700" text-anchor="middle" fill="#fff">${text}</text>`,
    "</svg>",
  ].join("");
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
