import type { RunnerEvent } from '../../engine/loop/events.ts'
import { BoundedStream } from '../bounded-stream.ts'

/** Events that wait for a reader at most. */
const maxWaitingEvents = 10_000

export interface EventsSkipped {
  readonly type: 'events-skipped'
  readonly count: number
}

/** Events for one reader, from the moment it was made. */
export class EventStream extends BoundedStream<RunnerEvent | EventsSkipped> {
  /** @param listen begins to call a listener; returns a function that ends it */
  constructor(listen: (listener: (event: RunnerEvent) => void) => () => void) {
    super()
    this.onEnd(
      listen((event) => {
        this.add(event)
        this.wake()
      }),
    )
  }

  protected isTooFull(): boolean {
    return this.waiting.length > maxWaitingEvents
  }

  protected skippedNote(count: number): EventsSkipped {
    return { type: 'events-skipped', count }
  }
}
