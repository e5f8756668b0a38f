import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { sessionInfo } from '../../engine/children/session-info.ts'
import { FollowedWorld } from '../../engine/following/followed-world.ts'
import { TickWatch } from '../../engine/following/tick-watch.ts'
import type { Clock } from '../../engine/loop/clock.ts'
import type { RunnerEvent } from '../../engine/loop/events.ts'
import { onlyAgent } from '../../engine/loop/only-agent.ts'
import { userMessage } from '../../protocol/message.ts'
import type { RestoreOptions } from '../../engine/loop/stored-ticks.ts'
import { letterLine } from '../../protocol/letter.ts'
import type { SharedStore } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { filledText, refuseMisfit } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { isInStore, type Agent, agentHandle } from './agent-handle.ts'

export interface FleetWorldsParts {
  readonly store: SharedStore
  readonly clock: Clock
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  /** Makes the world of a name that the store does not have. @throws for a name that no world may have */
  readonly make: (name: string) => World
  /** Writes a world unless the store has it. */
  readonly place: (world: World) => Promise<void>
  /** The agent that is spoken to. @default the only one of the world */
  readonly agentOf?: ((world: World) => Entity) | undefined
}

/** How often letters are looked at that a world has not taken yet. */
const receivedLookMs = 50

interface Following {
  readonly world: Promise<FollowedWorld>
  /** Calls that use it now. */
  users: number
}

/** Somebody listens to a world that was not there yet. */
interface Awaiting {
  readonly name: string
  /** It is there. */
  readonly found: () => void
  readonly end: () => void
}

/** The worlds of a fleet by name, spoken to by letter and followed as they are committed. It holds none of them. */
export class FleetWorlds {
  readonly #parts: FleetWorldsParts
  readonly #watch: TickWatch
  readonly #followed = new Map<string, Following>()
  readonly #awaiting = new Set<Awaiting>()
  /** Called when it is closed. */
  readonly #listening = new Set<() => void>()
  #isClosed = false

  constructor(parts: FleetWorldsParts) {
    this.#parts = parts
    this.#watch = new TickWatch(parts.store, parts.clock)
  }

  agent(name: string): Agent {
    refuseMisfit('fleet.agent', 'name', name, filledText)
    return agentHandle(name, {
      exists: () => this.exists(name),
      use: (work) => this.#use(name, (world) => work(world, this.#agentOf(world.world))),
      listen: (listener, ended) => this.#listen(name, listener, ended),
      message: async (message, { id } = {}) => {
        const input = { kind: 'message', message: userMessage(message), ...(id !== undefined && { id }) }
        await this.#post(name, input, id)
      },
      received: () => this.#received(name),
      approvals: () => this.#use(name, (world) => world.approvals()),
      answer: (input) => this.#use(name, (world) => world.answer(input)),
      cancel: (reason) => this.#post(name, { kind: 'cancel', ...(reason !== undefined && { reason }) }),
      sessions: () =>
        this.#use(name, ({ world }) => {
          const sessions = world.referrers(SubagentSession, this.#agentOf(world))
          return sessions.map((session) => sessionInfo(world, session))
        }),
    })
  }

  async exists(name: string): Promise<boolean> {
    return this.#followed.has(name) || isInStore(this.#parts.store, name)
  }

  /** Ends what waits here. The worlds go on. */
  async close(): Promise<void> {
    this.#isClosed = true
    const followed = [...this.#followed.values()]
    this.#followed.clear()
    for (const { end } of this.#awaiting) end()
    for (const ended of this.#listening) ended()
    for (const { world } of followed) (await world.catch(() => undefined))?.stop()
  }

  async #received(name: string): Promise<void> {
    const { clock, store } = this.#parts
    while (!this.#isClosed) {
      const world = (await store.list({ root: name })).find((each) => each.name === name)
      if (world?.letters === undefined) return
      await new Promise<void>((resolve) => clock.at(clock.now() + receivedLookMs, resolve))
    }
  }

  #refuseClosed(name: string): void {
    if (!this.#isClosed) return
    throw new EntiaError('store-closed', `The fleet was closed before world '${name}' was used. Make one anew.`)
  }

  async #post(name: string, input: { readonly kind: string }, id?: string): Promise<void> {
    this.#refuseClosed(name)
    // Who wants the events of a world that this letter makes gets them from its first tick on.
    const isAwaited = [...this.#awaiting].some((awaiting) => awaiting.name === name)
    if (isAwaited) await this.#use(name, () => undefined)
    await this.#parts.store.post({ world: name, line: letterLine({ input }), id })
  }

  #agentOf(world: World): Entity {
    return this.#parts.agentOf?.(world) ?? onlyAgent(world, 'the option agentOf of the fleet')
  }

  /** Calls a function with a world, which is made if it is not there, and followed until what it returns has settled. */
  async #use<T>(name: string, work: (world: FollowedWorld) => T | Promise<T>, fromStart = false): Promise<T> {
    this.#refuseClosed(name)
    const following = this.#followed.get(name) ?? { world: this.#follow(name, fromStart), users: 0 }
    following.users++
    this.#followed.set(name, following)
    try {
      return await work(await following.world)
    } finally {
      following.users--
      if (following.users === 0 && this.#followed.get(name) === following) {
        this.#followed.delete(name)
        following.world.then(
          (world) => world.stop(),
          () => undefined,
        )
      }
    }
  }

  async #follow(name: string, fromStart: boolean): Promise<FollowedWorld> {
    const { clock, known, make, place, store } = this.#parts
    const parts = { store, clock, known, name, watch: this.#watch }
    for (;;) {
      try {
        const world = await FollowedWorld.open(parts, fromStart)
        for (const awaiting of this.#awaiting) if (awaiting.name === name) awaiting.found()
        return world
      } catch (error) {
        if (!(error instanceof EntiaError) || error.code !== 'no-such-world') throw error
        // Nobody has spoken to it yet: it is written as a worker would at its first letter.
        await place(make(name))
      }
    }
  }

  #listen(name: string, listener: (event: RunnerEvent) => void, ended: () => void): () => void {
    if (this.#isClosed) {
      ended()
      return () => undefined
    }
    const unheard = Promise.withResolvers<void>()
    let isUnheard = false
    const listen = (world: FollowedWorld): Promise<void> | undefined => {
      if (isUnheard) return undefined
      const end = world.on('*', listener)
      return unheard.promise.then(end)
    }
    const endWait = this.#whenThere(name, (isNew) => void this.#use(name, listen, isNew).catch(() => undefined))
    this.#listening.add(ended)
    return () => {
      this.#listening.delete(ended)
      isUnheard = true
      endWait()
      unheard.resolve()
    }
  }

  /** Calls a function once the world is there, made here or elsewhere. The returned function ends the wait. */
  #whenThere(name: string, call: (isNew: boolean) => void): () => void {
    let unwatch: (() => void) | undefined
    const end = (): void => {
      this.#awaiting.delete(awaiting)
      unwatch?.()
    }
    const found = (isNew: boolean): void => {
      if (!this.#awaiting.has(awaiting)) return
      end()
      call(isNew)
    }
    const awaiting: Awaiting = { name, found: () => found(true), end }
    this.#awaiting.add(awaiting)
    const look = async (): Promise<void> => {
      if (await this.exists(name)) return found(false)
      if (!this.#awaiting.has(awaiting)) return
      const hear = (tick: number | undefined): void => (tick === undefined ? undefined : found(true))
      unwatch = this.#watch.watch({ world: name, root: name, textsAfter: () => undefined, hear })
    }
    void look().catch(end)
    return end
  }
}
