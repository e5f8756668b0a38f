import type { LostTicks } from '../stores/port.ts'
import type { StreamEvent } from './events.ts'
import type { Listeners } from './listeners.ts'

/** Says of a world that is taken up that its store has lost ticks: to listeners, or else as a process warning. */
export function tellLostTicks(world: string, lost: LostTicks | undefined, listeners: Listeners): void {
  if (lost === undefined) return
  const { tick, newestTick } = lost
  const there = tick === undefined ? 'nothing of it is there' : `its newest tick there is ${tick}`
  const message =
    `The store of world '${world}' has lost commits: ${there}, and tick ${newestTick} was committed. Its log or its newest ` +
    'rows were deleted, a backup was put in its place, or a power cut took what was not synced. The world goes on from ' +
    'what is there; what it did after that may be done again.'
  const event = {
    type: 'ticks-lost',
    world,
    ...(tick !== undefined && { foundTick: tick }),
    newestTick,
    message,
  } as const
  if (listeners.has(event.type)) listeners.tell(event satisfies StreamEvent)
  else process.emitWarning(message, 'EntiaWarning')
}
