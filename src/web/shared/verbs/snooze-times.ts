/** How long a session may be snoozed from the page; the command line takes any time. */
const hourMs = 3_600_000;

export const snoozeTimes: { label: string; ms: number }[] = [
  { label: "in one hour", ms: hourMs },
  { label: "in three hours", ms: 3 * hourMs },
  { label: "in eight hours", ms: 8 * hourMs },
  { label: "in one day", ms: 24 * hourMs },
  { label: "in three days", ms: 72 * hourMs },
  { label: "in one week", ms: 168 * hourMs },
];
