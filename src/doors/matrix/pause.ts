import type { Clock } from '../../engine/loop/clock.ts'

/** Waits on a clock. @throws by its promise: the signal's reason */
export async function pause(clock: Clock, durationMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const cancel = clock.at(clock.now() + durationMs, resolve)
  const abort = (): void => reject(canceled(signal))
  signal?.addEventListener('abort', abort)
  try {
    await promise
  } finally {
    cancel()
    signal?.removeEventListener('abort', abort)
  }
}

/** Why a signal has aborted, as an error. */
export function canceled(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new DOMException('Stopped.', 'AbortError')
}
