import { thrownMessage } from '../../base/thrown-message.ts'
import type { EventTime, StreamEvent, TickEvent } from './events.ts'

type Listener = (event: never) => unknown

interface Above {
  readonly listeners: Listeners
  readonly path: readonly string[]
}

/** The listeners of a world. What a listener throws, or rejects with, is emitted as `listener-failed` and changes nothing. */
export class Listeners {
  readonly #world: string
  readonly #time: () => EventTime
  readonly #above: Above | undefined
  #held: (StreamEvent | TickEvent)[] | undefined
  readonly #byType = new Map<string, Set<Listener>>()

  /** @param above listeners of the parent world, which get every event with the path to this world */
  constructor(world: string, time: () => EventTime, above?: Above) {
    this.#world = world
    this.#time = time
    this.#above = above
  }

  /** Calls `listener` for every event of a type, or of all types (`*`). Returns a function that ends it. */
  on(type: string, listener: Listener): () => void {
    let known = this.#byType.get(type)
    if (known === undefined) this.#byType.set(type, (known = new Set()))
    known.add(listener)
    return () => {
      known.delete(listener)
    }
  }

  /** Without a listener for its type, an event need not be built. */
  has(type: string): boolean {
    const isHeard = (this.#byType.get(type)?.size ?? 0) > 0 || (this.#byType.get('*')?.size ?? 0) > 0
    return isHeard || this.#above?.listeners.has(type) === true
  }

  hasAny(events: readonly { readonly type: string }[]): boolean {
    for (const { type } of events) if (this.has(type)) return true
    return false
  }

  /** Holds all later events back; the returned function emits them. */
  hold(): () => void {
    const held = (this.#held = [] as (StreamEvent | TickEvent)[])
    return () => {
      if (this.#held === held) this.#held = undefined
      for (const event of held) this.emit(event)
    }
  }

  emit(event: StreamEvent | TickEvent): void {
    if (this.#held === undefined) this.emitNow(event)
    else this.#held.push(event)
  }

  /** Emits an event even while events are held back. */
  emitNow(given: StreamEvent | TickEvent): void {
    if (!this.has(given.type)) return
    const event = 'nowMs' in given ? given : { ...given, ...this.#time() }
    this.#call(this.#byType.get(event.type), event)
    this.#call(this.#byType.get('*'), event)
    if (this.#above?.listeners.has(event.type) !== true) return
    const path = 'path' in event ? event['path'] : this.#above.path
    this.#above.listeners.emit({ ...event, path })
  }

  #call(listeners: ReadonlySet<Listener> | undefined, event: StreamEvent | TickEvent): void {
    if (listeners === undefined || listeners.size === 0) return
    for (const listener of Array.from(listeners)) {
      try {
        const result: unknown = listener(event as never)
        if (result instanceof Promise) result.catch((error: unknown) => this.#report(event.type, error))
      } catch (error) {
        this.#report(event.type, error)
      }
    }
  }

  #report(event: string, error: unknown): void {
    const message = thrownMessage(error)
    // Otherwise a listener for failures that fails would be called forever.
    if (event === 'listener-failed') return
    if (this.has('listener-failed'))
      this.emit({ type: 'listener-failed', world: this.#world, event, message } satisfies StreamEvent)
    else process.emitWarning(`A listener for '${event}' of world '${this.#world}' failed: ${message}`, 'EntiaWarning')
  }
}

/** The listeners of each Runner, for parts of the runtime that emit an event of their own. */
export const listenersOf = new WeakMap<object, Listeners>()
