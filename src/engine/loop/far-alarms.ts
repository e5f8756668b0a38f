/** An alarm gets a timer of its own so long before its instant. */
const nearMs = 1_000
/** The longest delay that setTimeout takes. */
export const maxTimeoutMs = 2 ** 31 - 1

interface Alarm {
  readonly instantMs: number
  readonly fire: () => void
  cancelNear: (() => void) | undefined
}

/**
 * Alarms far off, such as limits of calls: nearly all are cancelled long before. They share one timer, which gives those that
 * come near timers of their own, and which keeps the process alive as long as an alarm waits.
 */
export class FarAlarms {
  readonly #near: (instantMs: number, fire: () => void) => () => void
  readonly #alarms = new Set<Alarm>()
  #timer: NodeJS.Timeout | undefined
  #lookAtMs = Infinity

  constructor(near: (instantMs: number, fire: () => void) => () => void) {
    this.#near = near
  }

  at(instantMs: number, fire: () => void): () => void {
    const alarm: Alarm = { instantMs, fire, cancelNear: undefined }
    this.#alarms.add(alarm)
    if (this.#timer === undefined || instantMs - nearMs < this.#lookAtMs) this.#lookAt(instantMs - nearMs)
    else if (this.#alarms.size === 1) this.#timer.ref()
    return () => {
      alarm.cancelNear?.()
      if (this.#alarms.delete(alarm) && this.#alarms.size === 0) this.#timer?.unref()
    }
  }

  #lookAt(instantMs: number): void {
    clearTimeout(this.#timer)
    this.#lookAtMs = instantMs
    const delayMs = Math.max(Math.ceil(instantMs - performance.now()), 0)
    this.#timer = setTimeout(() => this.#look(), Math.min(delayMs, maxTimeoutMs))
  }

  #look(): void {
    this.#timer = undefined
    const soonMs = performance.now() + nearMs
    let nextMs = Infinity
    for (const alarm of this.#alarms) {
      if (alarm.instantMs > soonMs) nextMs = Math.min(nextMs, alarm.instantMs)
      else {
        this.#alarms.delete(alarm)
        alarm.cancelNear = this.#near(alarm.instantMs, alarm.fire)
      }
    }
    if (this.#alarms.size > 0) this.#lookAt(nextMs - nearMs)
  }
}
