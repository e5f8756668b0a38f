import { Ancestry, SessionEnd } from '../../../components/ancestry.ts'
import { Overflowed } from '../../../components/compaction-state.ts'
import { LastTurn } from '../../../components/last-turn.ts'
import { defaultLimits, Limits } from '../../../components/limits.ts'
import { ModelCall } from '../../../components/model-call.ts'
import { OwnedBy } from '../../../components/owned-by.ts'
import { Turn } from '../../../components/turn.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Finding, removedIn, setIn, type WatchedTick } from '../law.ts'
import { bitsOf, removedBits, setBits } from './touched.ts'

const turns = bitsOf(LastTurn)
const ends = bitsOf(SessionEnd)
const modelCalls = bitsOf(ModelCall)

interface Count {
  steps: number
  toolCalls: number
}

/** The steps and tool calls of each agent of a world, counted from what is begun and not from what its turn says. */
export class TurnCounts {
  readonly #counts = new Map<Entity, Count>()
  /** The newest model call that was counted. */
  #last: Entity = 0

  /** @param before as it was counted until the world was let go of, if it was */
  constructor(world: World, before: TurnCounts | undefined) {
    this.#last = world.core.next - 1
    const { state } = world.core
    for (const agent of [...state.holders(Turn), ...state.holders(Ancestry)]) {
      const known = before && before.#counts.get(agent)
      const steps =
        world.get(agent, Turn)?.steps ?? (world.has(agent, Ancestry) ? world.get(agent, LastTurn)?.steps : 0)
      this.#counts.set(agent, known ?? { steps: steps ?? 0, toolCalls: 0 })
    }
  }

  enter(tick: WatchedTick): Finding {
    if ((setBits(tick.step) & turns) !== 0) this.#endTurns(tick)
    if ((removedBits(tick.step) & ends) !== 0) {
      for (const agent of removedIn(tick, SessionEnd)) this.#of(agent).steps = 0
    }
    if (tick.step.delta.set?.[Overflowed.name] !== undefined) this.#takenBack(tick)
    const finding = (setBits(tick.step) & modelCalls) === 0 ? undefined : this.#steps(tick)
    return finding ?? this.#toolCalls(tick)
  }

  #endTurns(tick: WatchedTick): void {
    for (const [agent] of setIn(tick, LastTurn)) {
      const count = this.#of(agent)
      count.toolCalls = 0
      // The steps of a session are counted over all its turns.
      if (!tick.world.has(agent, Ancestry)) count.steps = 0
    }
  }

  #steps(tick: WatchedTick): Finding {
    const { world } = tick
    for (const [effect] of setIn(tick, ModelCall)) {
      const agent = world.get(effect, OwnedBy)?.agent
      if (effect <= this.#last || agent === undefined) continue
      this.#last = effect
      const steps = ++this.#of(agent).steps
      const { maxSteps = defaultLimits.maxSteps } = world.get(agent, Limits) ?? {}
      if (steps > maxSteps) return `agent ${agent} takes step ${steps} of a turn that may have ${maxSteps}`
    }
    return undefined
  }

  /** A step that was too long is taken back, and is no step of the turn if that goes on. */
  #takenBack({ step, world }: WatchedTick): void {
    for (const event of step.events) {
      if (event.type !== 'model-failed') continue
      const agent = event['agent'] as Entity
      if (world.has(agent, Overflowed)) this.#of(agent).steps--
    }
  }

  #toolCalls({ step, world }: WatchedTick): Finding {
    for (const event of step.events) {
      if (event.type !== 'tool-called') continue
      const agent = event['agent'] as Entity
      const toolCalls = ++this.#of(agent).toolCalls
      const { maxToolCalls = defaultLimits.maxToolCalls } = world.get(agent, Limits) ?? {}
      if (toolCalls > maxToolCalls)
        return `agent ${agent} runs tool call ${toolCalls} of a turn that may have ${maxToolCalls}`
    }
    return undefined
  }

  #of(agent: Entity): Count {
    let count = this.#counts.get(agent)
    if (count === undefined) this.#counts.set(agent, (count = { steps: 0, toolCalls: 0 }))
    return count
  }
}
