export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    // A failure after the abort is a consequence of it.
    promise.catch(() => undefined)
    return undefined
  }
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const abort = (): void => resolve(undefined)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
