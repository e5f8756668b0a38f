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
    if (now === undefined || now.tick >= now.newest || address.value.tick === 'live') return stop()
    go({ tick: now.tick + 1 })
  }, 1_000 / ticksPerSecond)
}

function stop(): void {
  clearInterval(timer)
  isPlaying.value = false
}
