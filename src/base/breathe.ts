/**
 * Lets timers and aborts happen during long work: await it between steps, and throws the signal's reason once it has aborted.
 * Without it a workspace that answers at once (memory) would keep the thread until the end.
 */
export async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal?.throwIfAborted()
}
