import type { Finding, Law, PoolEvent } from '../law.ts'

export const fifoKept: Law = {
  name: 'fifo-kept',
  meaning: 'Slots are given in the order of asking, to those who had one before ahead of those who never had.',
  watch({ maxSessions, processes }) {
    const holding = new Set<string>()
    const first = new Set<string>()
    const tenants = new Map<string, string>()
    /** Each with the number of first-time sessions that may still be granted a slot before it. */
    const returning = new Map<string, number>()
    const tenantOf = (key: string): string => tenants.get(key) ?? ''

    /** Slots that were free when a session returned may have been given to others just before. */
    const overtaken = (key: string): Finding => {
      for (const [waiting, free] of returning) {
        if (tenantOf(waiting) !== tenantOf(key)) continue
        if (free <= 0) return `${key} was given a slot, and ${waiting}, which had one before and came back, still waits`
        returning.set(waiting, free - 1)
      }
      return undefined
    }
    return {
      pool({ key, type, ...event }) {
        if (type === 'left') {
          for (const place of [holding, first, returning]) place.delete(key)
          return undefined
        }
        if (type === 'entered') {
          const {
            isPassed = false,
            place,
            tenant = '',
          } = event as Partial<Extract<PoolEvent, { readonly place: unknown }>>
          tenants.set(key, tenant)
          // What some worker cannot drive now, others may overtake.
          if (place === 'return') returning.set(key, isPassed ? Infinity : maxSessions - holding.size)
          else first.add(key)
          return undefined
        }
        const lane = returning.has(key) ? returning : first
        if (!lane.has(key)) return `${key} was given a slot and did not stand in line`
        const head = [...lane.keys()].find((each) => tenantOf(each) === tenantOf(key))
        // Those that dead workers have left are in line by their first asking.
        if (head !== key && (lane === first || processes === 1))
          return `${key} was given a slot, and ${head} has stood in line for longer`
        lane.delete(key)
        holding.add(key)
        return lane === first ? overtaken(key) : undefined
      },
      crashed() {
        for (const place of [holding, first, returning]) place.clear()
      },
    }
  },
}
