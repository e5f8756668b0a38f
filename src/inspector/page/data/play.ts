import { signal } from '@preact/signals'
import { address, go } from './address.ts'
import { moment } from './state.ts'

export const isPlaying = signal(false)
const ticksPerSecond = 20
let timer: ReturnType<typeof setInterval> | undefined

/** Goes on tick by tick until the newest, or stops. */
export function togglePlay(): void {
  if (isPlaying.value) return stop()
  const shown = moment.value
  if (shown === undefined) return
  isPlaying.value = true
  // From the end it begins anew.
  if (shown.tick >= shown.newest) go({ tick: shown.past.held[0] })
  timer = setInterval(() => {
    const now = moment.value
    const at = address.value.tick
    if (now === undefined || at === 'live' || at >= now.newest) return stop()
    // The way to where it begins may be long.
    if (now.tick === at) go({ tick: at + 1 })
  }, 1_000 / ticksPerSecond)
}

function stop(): void {
  clearInterval(timer)
  isPlaying.value = false
}
