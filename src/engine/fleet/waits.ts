import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import { waitsUntil } from '../effects/waits-until.ts'

/**
 * Tells when a world that is left alone has to be opened again, in milliseconds since 1970; `undefined`: not before a letter. It is
 * asked at the end of a tenure that begins now.
 */
export function wakeDate(world: World, host: Host, slept: number): () => number | undefined {
  const { clock } = host
  const behindMs = clock.now() - world.nowMs - slept
  return () => {
    const untilMs = waitsUntil(world, host)
    // It has something to do: at once.
    if (untilMs === undefined) return 0
    return untilMs === Infinity ? undefined : clock.date() + Math.max(1, untilMs + behindMs - clock.now())
  }
}

/** How much world time has passed while a world was left alone until that date. */
export function sleptMs(world: World, host: Host, wakeAtMs: number | undefined): number {
  const untilMs = waitsUntil(world, host) ?? Infinity
  if (wakeAtMs === undefined || wakeAtMs === 0 || untilMs === Infinity) return 0
  const leftMs = wakeAtMs - host.clock.date()
  return Math.max(0, Math.floor(untilMs - world.nowMs - leftMs))
}

/** A world that is driven. */
interface Driven {
  readonly world: World
  /** How many ticks it has had. */
  readonly ticks: () => number
  /** Resolves once nothing is in flight. */
  readonly idle: () => Promise<void>
}

export interface RestOptions {
  readonly host: Host
  readonly idleMs: number
  readonly signal: AbortSignal
  /** Of a session: it has one, so that it is at work. @default none */
  readonly hasSlot?: () => boolean
}

/** How often a world with work in flight is asked at most whether it only waits. */
const shortestLookMs = 1_000

/** Resolves once a world has only waited for a while: for letters, for people, for sessions elsewhere, or for an instant. */
export async function restful(
  driven: Driven,
  { hasSlot = () => false, host, idleMs, signal }: RestOptions,
): Promise<void> {
  const isAtWork = (): boolean => hasSlot() || waitsUntil(driven.world, host) === undefined
  let idle: Promise<boolean> | undefined
  while (!signal.aborted) {
    idle ??= driven.idle().then(() => true)
    const looked = new AbortController()
    const later = pause(host, Math.max(idleMs, shortestLookMs), signal, looked.signal)
    const isIdle = await untilAborted(Promise.race([idle, later.then(() => false)]), signal)
    looked.abort()
    if (isIdle === true) idle = undefined
    else if (isAtWork()) continue
    const ticks = driven.ticks()
    await pause(host, idleMs, signal)
    if (driven.ticks() === ticks && !isAtWork()) return
  }
  idle?.catch(() => undefined)
}

/** Resolves once there was no tick for a while. */
export async function quiet(ticks: () => number, { host, idleMs, signal }: RestOptions): Promise<void> {
  for (let before = -1; before !== ticks() && !signal.aborted;) {
    before = ticks()
    await pause(host, idleMs, signal)
  }
}

/** Ends early with the first signal. What `AbortSignal.any` gives would outlive a clock that never fires. */
function pause({ clock }: Host, durationMs: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.at(clock.now() + durationMs, end)
    if (signals.some(({ aborted }) => aborted)) return end()
    for (const signal of signals) signal.addEventListener('abort', end)
  })
}
