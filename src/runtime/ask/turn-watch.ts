import { Turn } from '../../../components/agent/turn.ts'
import { Unread } from '../../../components/agent/conversation.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import { type Answer, answerOf, refusedAnswer } from './answer.ts'

/** How a turn ended, or why a message opened none. */
interface End {
  readonly tick: number
  /** The messages of this tick were refused; turns that are open go on. */
  readonly isRefusal: boolean
  readonly result: Answer | EntiaError
}

interface Waiter {
  /** The tick that took its message; `undefined` until that is known. */
  takenIn: number | undefined
  /** What ended before that was known. */
  early: End[] | undefined
  readonly settle: (result: Answer | EntiaError) => void
}

const watches = new WeakMap<WorldDriver, TurnWatch>()

/** Lets programs wait for the turns of a Runner's agents. One listener for each type of event serves all who wait. */
export class TurnWatch {
  readonly #driver: WorldDriver
  readonly #waiters = new Map<Entity, Set<Waiter>>()

  static of(runner: WorldDriver): TurnWatch {
    let watch = watches.get(runner)
    if (watch === undefined) watches.set(runner, (watch = new TurnWatch(runner)))
    return watch
  }

  private constructor(runner: WorldDriver) {
    this.#driver = runner
    runner.on('turn-ended', ({ agent, path, tick }) => {
      if (path !== undefined || !this.#waiters.has(agent)) return
      this.#ended(agent, { tick, isRefusal: false, result: answerOf(this.#driver.world, agent) })
    })
    runner.on('turn-error', ({ agent, failure, kind, message, path, refused, tick }) => {
      if (path !== undefined || refused !== true) return
      const stop = kind === 'cost_ceiling' ? 'budget-spent' : 'failed'
      const result = refusedAnswer(agent, stop, failure ?? { kind: 'internal', message })
      this.#ended(agent, { tick, isRefusal: true, result })
    })
    runner.on('input-refused', ({ agent, kind, path, reason, tick }) => {
      if (path !== undefined || kind !== 'message') return
      const result = new EntiaError('unknown-entity', `The message to agent ${agent} was refused: ${reason}.`, {
        agent,
      })
      this.#ended(agent, { tick, isRefusal: true, result })
    })
    // A turn that ended in the meantime is the last one.
    runner.on('ticks-skipped', ({ tick, world }) => {
      if (world !== runner.world.name) return
      for (const agent of this.#waiters.keys()) {
        if (isAtWork(runner.world, agent)) continue
        this.#ended(agent, { tick, isRefusal: false, result: answerOf(runner.world, agent) })
      }
    })
    runner.on('runner-failed', ({ error, world }) => this.#failAll(world, error))
    runner.on('runner-stopped', ({ world }) => {
      if (this.#waiters.size === 0) return
      const what = `The Runner of world '${world}' was stopped before the turn ended.`
      this.#failAll(world, new EntiaError('world-driven', `${what} Open the world again and call ask.attach.`))
    })
  }

  /**
   * The answer of the turn that takes a message.
   *
   * @param post puts the message in. Resolves with the tick that took it; `undefined`: it was taken before, and its turn is the
   * one that is open, or the last one
   */
  answerTo(agent: Entity, post: () => Promise<number | undefined> | undefined): Promise<Answer> {
    // One promise for all of it: promises are most of what asking costs.
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(agent) ?? new Set()
      this.#waiters.set(agent, waiters)
      const leave = (): void => {
        if (waiters.delete(waiter) && waiters.size === 0 && this.#waiters.get(agent) === waiters)
          this.#waiters.delete(agent)
      }
      const refuse = (error: Error): void => {
        leave()
        reject(error)
      }
      const waiter: Waiter = {
        takenIn: undefined,
        early: undefined,
        settle(result) {
          if (result instanceof EntiaError) return refuse(result)
          leave()
          resolve(result)
        },
      }
      waiters.add(waiter)
      const taken = (tick: number | undefined): void => {
        const { world } = this.#driver
        if (tick === undefined && !isAtWork(world, agent)) return waiter.settle(answerOf(world, agent))
        waiter.takenIn = tick ?? 0
        const end = waiter.early?.find((each) => isEndFor(each, tick ?? 0))
        if (end !== undefined) waiter.settle(end.result)
      }
      try {
        const posted = post()
        if (posted === undefined) taken(undefined)
        else posted.then(taken, refuse)
      } catch (error) {
        refuse(error as Error)
      }
    })
  }

  #ended(agent: Entity, end: End): void {
    for (const waiter of this.#waiters.get(agent) ?? []) {
      if (waiter.takenIn === undefined) (waiter.early ??= []).push(end)
      else if (isEndFor(end, waiter.takenIn)) waiter.settle(end.result)
    }
  }

  #failAll(world: string, error: EntiaError): void {
    // Events of sessions' Worlds come here as well.
    if (world !== this.#driver.world.name) return
    for (const waiter of [...this.#waiters.values()].flatMap((waiters) => [...waiters])) waiter.settle(error)
  }
}

function isEndFor({ isRefusal, tick }: End, takenIn: number): boolean {
  return isRefusal ? tick === takenIn : tick >= takenIn
}

/** Has an agent a turn open, or a message to answer? */
export function isAtWork(world: World, agent: Entity): boolean {
  return world.has(agent, Turn) || world.has(agent, Unread)
}
