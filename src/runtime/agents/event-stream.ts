import type { RunnerEvent } from '../../engine/loop/events.ts'
import { BoundedStream } from '../bounded-stream.ts'

/** Events that wait for a reader at most. */
const maxWaitingEvents = 10_000

export interface EventsSkipped {
  readonly type: 'events-skipped'
  readonly count: number
}

/** Calls a listener for each event, and `ended` once there are no more. Gives a function that ends it. */
export type Listen = (listener: (event: RunnerEvent) => void, ended: () => void) => () => void

/** Events for one reader, from the moment it was made until there are no more. */
export class EventStream extends BoundedStream<RunnerEvent | EventsSkipped> {
  constructor(listen: Listen) {
    super()
    const hear = (event: RunnerEvent): void => {
      this.add(event)
      this.wake()
    }
    this.onEnd(listen(hear, () => this.end()))
  }

  protected isTooFull(): boolean {
    return this.waiting.length > maxWaitingEvents
  }

  protected skippedNote(count: number): EventsSkipped {
    return { type: 'events-skipped', count }
  }
}
