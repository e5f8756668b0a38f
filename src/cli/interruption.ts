import { constants } from 'node:os'

/** A request to stop. */
export interface Interruption {
  readonly signal: AbortSignal
  /** What to exit with once it was heeded. */
  readonly exitCode: () => number
}

/** Aborts when the process is asked to end, or its output is closed. Asked twice, it ends at once. */
export function interruption(): Interruption {
  const controller = new AbortController()
  let exitCode = 0
  const stop = (name: NodeJS.Signals): void => {
    if (exitCode === 0) exitCode = 128 + constants.signals[name]
    controller.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop)
  process.stdout.on('error', () => stop('SIGPIPE'))
  return { signal: controller.signal, exitCode: () => exitCode }
}
