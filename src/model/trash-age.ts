/**
 * For `trash empty --older-than`: in the trash for more than `days` counted days. Not bound to a steady clock: the count
 * itself grows only then. Everything is older than 0 days.
 */
export function isOlder(counted: number, days: number): boolean {
  return days === 0 || counted > days;
}
