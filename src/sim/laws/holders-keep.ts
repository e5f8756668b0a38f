import type { Law } from '../law.ts'

/** A worker that was heard so recently is not thought dead for its silence. */
const leaseMs = 10_000

/** How many workers in a row may die of a session. */
const maxLosses = 5

/** Several processes: who lives and says so keeps what it has, and who dies of a session is followed by few. */
export const holdersKeep: Law = {
  name: 'holders-keep',
  meaning:
    'What a living worker holds is taken from it once it is thought dead, and not again after it was heard; no session is given away after five workers in a row have died of it.',
  watch() {
    const heardMs = new Map<string, number>()
    const suspected = new Set<string>()
    const gone = new Set<string>()
    /** Of each session, who lost it, and how many have in a row that were followed by others. */
    const losses = new Map<string, { readonly lostBy: string | undefined; readonly count: number }>()
    return {
      board(event) {
        switch (event.type) {
          case 'heard':
            heardMs.set(event.worker, event.atMs)
            suspected.delete(event.worker)
            return undefined
          case 'suspected':
            suspected.add(event.worker)
            return undefined
          case 'gone':
            gone.add(event.worker)
            return undefined
          case 'taken': {
            const { atMs, what, worker } = event
            const silentMs = atMs - (heardMs.get(worker) ?? -Infinity)
            if (!gone.has(worker) && !suspected.has(worker) && silentMs < leaseMs) {
              return `${what} is taken from ${worker}, which was heard ${silentMs} ms ago`
            }
            losses.set(what, { lostBy: worker, count: losses.get(what)?.count ?? 0 })
            return undefined
          }
          case 'given': {
            const { session, worker } = event
            const { count = 0, lostBy } = losses.get(session) ?? {}
            if (lostBy === undefined) return undefined
            // The same one again has not died of it.
            const deaths = lostBy === worker ? count : count + 1
            losses.set(session, { lostBy: undefined, count: deaths })
            return deaths < maxLosses
              ? undefined
              : `session ${session} is given to ${worker}, after ${deaths} have died of it`
          }
          case 'released':
            losses.delete(event.session)
            return undefined
          case 'given-up':
            return undefined
        }
      },
    }
  },
}
