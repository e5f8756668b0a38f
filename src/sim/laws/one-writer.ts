import type { Law } from '../law.ts'

interface Written {
  readonly epoch: number
  readonly worker: string
  readonly tick: number | undefined
}

/** Several processes: what is committed of a world comes from the one that has opened it last. */
export const oneWriter: Law = {
  name: 'one-writer',
  meaning: 'The ticks of a world follow one another, each from the holder that opened it last: epochs never fall.',
  watch() {
    const openedBy = new Map<string, { readonly worker: string; readonly epoch: number }>()
    const newest = new Map<string, Written>()
    return {
      store(event) {
        if (event.type === 'posted') return undefined
        const { epoch, type, worker, world } = event
        const before = newest.get(world)
        if (type === 'opened') {
          if (before !== undefined && epoch <= before.epoch && worker !== before.worker) {
            return `${worker} opens ${world} under epoch ${epoch}, and ${before.worker} has written under epoch ${before.epoch}`
          }
          openedBy.set(world, { worker, epoch })
          return undefined
        }
        const holder = openedBy.get(world)
        if (holder?.worker !== worker || holder.epoch !== epoch) {
          const other = holder === undefined ? 'nobody' : `${holder.worker}, epoch ${holder.epoch}`
          return `${worker} writes to ${world} under epoch ${epoch}, and it is held by ${other}`
        }
        const tick = event.step?.delta.tick ?? before?.tick
        if (event.step !== undefined && before?.tick !== undefined && tick !== before.tick + 1) {
          return `${worker} writes tick ${tick} of ${world}, and its newest is ${before.tick}`
        }
        newest.set(world, { epoch, worker, tick })
        return undefined
      },
    }
  },
}
