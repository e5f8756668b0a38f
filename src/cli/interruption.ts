import { constants } from 'node:os'

export interface Interruption {
  readonly signal: AbortSignal
  /** The exit code after an abort. */
  readonly exitCode: () => number
}

const outside: ReadonlySet<number> = new Set([128 + constants.signals.SIGTERM, 128 + constants.signals.SIGHUP])

/** Says an exit code that the system or a closed terminal has ended the program, and no user has cancelled its work? */
export function isFromOutside(exitCode: number): boolean {
  return outside.has(exitCode)
}

/** Aborts on SIGINT, SIGTERM, SIGHUP, or a closed output. A second signal ends the process at once. */
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
