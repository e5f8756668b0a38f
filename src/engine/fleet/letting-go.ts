/** Why a worker lets go of a world, as the reason of a signal: it stops in order. */
interface Stopped {
  readonly onceMs: number
}

/** Has a world let go of. @param onceMs for so long tools of class `once` may end what they have begun */
export function letGo(release: AbortController, onceMs: number): void {
  release.abort({ onceMs } satisfies Stopped)
}

/** For how long `once` tools are waited for; 0: the world was taken from this worker, or has come to rest. */
export function onceMsOf({ reason }: AbortSignal): number {
  return typeof reason === 'object' && reason !== null && 'onceMs' in reason ? Number(reason.onceMs) : 0
}
