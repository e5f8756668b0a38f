import type { Law } from '../law.ts'

/** Several processes: nothing is left lying that somebody should have opened. */
export const parkedWakes: Law = {
  name: 'parked-wakes',
  meaning: 'When all is over, no world that somebody could open has a letter, or is due.',
  watch: () => ({
    atRest({ dateMs, worlds }) {
      for (const { hasEnded, isHeld, letters, name, wakeAtMs = Infinity } of worlds) {
        if (hasEnded) continue
        const [letter] = letters
        if (letter !== undefined) return `${name} has a letter that no one takes: ${letter.line}`
        if (!isHeld && wakeAtMs <= dateMs) return `${name} is due since ${dateMs - wakeAtMs} ms, and no one opens it`
      }
      return undefined
    },
  }),
}
