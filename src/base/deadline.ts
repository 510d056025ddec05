/** Waits for a promise, but not for ever; a late result is dropped. The timer never keeps the process alive. */
export async function bounded<T>(work: Promise<T>, ms: number): Promise<T | "too-late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"too-late">((resolve) => {
    timer = setTimeout(() => resolve("too-late"), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
