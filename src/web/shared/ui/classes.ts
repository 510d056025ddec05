/** Joins class names. Write them so that no two disagree: the order of a class attribute decides nothing. */
import { clsx, type ClassValue } from "clsx";

export function classes(...values: ClassValue[]): string {
  return clsx(values);
}
