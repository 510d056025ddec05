/** One POST with a deadline. The address may hold a secret, so no message repeats it. */

/** A person waits for nothing here; a server that takes longer is taken for gone. */
const deadlineMs = 10_000;

export async function postJson(address: string, body: unknown): Promise<void> {
  let status: number;
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "holdfast" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(deadlineMs),
    });
    status = response.status;
    await response.body?.cancel();
  } catch (error) {
    throw new Error(reason(error), { cause: error });
  }
  if (status < 200 || status >= 300) throw new Error(`it answered with status ${status}`);
}

function reason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${deadlineMs / 1000} s`;
  const cause = error instanceof Error ? error.cause : null;
  const code = (cause as NodeJS.ErrnoException | null)?.code;
  return code === undefined ? "it could not be reached" : `it could not be reached (${code})`;
}
