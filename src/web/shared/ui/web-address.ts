/** An address that a person may be sent to, or null: names and issues come from elsewhere and may hold anything. */
export function webAddress(text: string): string | null {
  const parsed = URL.parse(text);
  return parsed !== null && (parsed.protocol === "https:" || parsed.protocol === "http:") ? parsed.href : null;
}
