import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { EventTime, StreamEvent, TickEvent } from './events.ts'

type Listener = (event: never) => unknown

/** The listeners of the parent of a session's world. */
interface Above {
  readonly listeners: Listeners
  /** Ids of the sessions above and its own, outermost first. */
  readonly path: readonly string[]
}

/** Those who want to be told. What a listener throws, or rejects with, is told to the others and changes nothing. */
export class Listeners {
  readonly #world: string
  readonly #time: () => EventTime
  readonly #above: Above | undefined
  #held: (StreamEvent | TickEvent)[] | undefined
  readonly #byType = new Map<string, Set<Listener>>()

  /**
   * @param time the time to emit with events outside a tick
   * @param above listeners of the parent world, which get every event with the path to this world
   */
  constructor(world: string, time: () => EventTime, above?: Above) {
    this.#world = world
    this.#time = time
    this.#above = above
  }

  /** Calls `listener` for every event of a type, or of all types (`*`). Gives a function that ends it. */
  on(type: string, listener: Listener): () => void {
    let known = this.#byType.get(type)
    if (known === undefined) this.#byType.set(type, (known = new Set()))
    known.add(listener)
    return () => {
      known.delete(listener)
    }
  }

  /** Is anybody there for events of this type? Saves making those that nobody hears. */
  has(type: string): boolean {
    const isHeard = (this.#byType.get(type)?.size ?? 0) > 0 || (this.#byType.get('*')?.size ?? 0) > 0
    return isHeard || this.#above?.listeners.has(type) === true
  }

  /** Holds all later events back; the returned function emits them. */
  hold(): () => void {
    const held = (this.#held = [] as (StreamEvent | TickEvent)[])
    return () => {
      if (this.#held === held) this.#held = undefined
      for (const event of held) this.tell(event)
    }
  }

  /** Tells what happens, unless that has to wait. */
  tell(happened: StreamEvent | TickEvent): void {
    if (this.#held === undefined) this.tellNow(happened)
    else this.#held.push(happened)
  }

  /** Emits an event at once, held back or not. Without a listener it is not built. */
  tellNow(happened: StreamEvent | TickEvent): void {
    if (!this.has(happened.type)) return
    const event = 'nowMs' in happened ? happened : { ...happened, ...this.#time() }
    this.#tellThose(event.type, event)
    this.#tellThose('*', event)
    if (this.#above?.listeners.has(event.type) !== true) return
    const path = 'path' in event ? event['path'] : this.#above.path
    this.#above.listeners.tell({ ...event, path })
  }

  #tellThose(type: string, event: StreamEvent | TickEvent): void {
    const listeners = this.#byType.get(type)
    if (listeners === undefined || listeners.size === 0) return
    for (const listener of Array.from(listeners)) this.#call(listener, event)
  }

  #call(listener: Listener, event: StreamEvent | TickEvent): void {
    try {
      const result: unknown = listener(event as never)
      if (result instanceof Promise) result.catch((error: unknown) => this.#report(event.type, error))
    } catch (error) {
      this.#report(event.type, error)
    }
  }

  #report(event: string, error: unknown): void {
    const message = thrownMessage(error)
    // A listener for failures that fails itself is told to nobody, or it would go on forever.
    if (event === 'listener-failed') return
    if (this.has('listener-failed'))
      this.tell({ type: 'listener-failed', world: this.#world, event, message } satisfies StreamEvent)
    else process.emitWarning(`A listener for '${event}' of world '${this.#world}' failed: ${message}`, 'EntiaWarning')
  }
}
