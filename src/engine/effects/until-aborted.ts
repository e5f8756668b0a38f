/** What a promise gives, or `undefined` as soon as a signal aborts. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    // What fails after that fails because it was stopped, and concerns nobody.
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
