import { Ancestry, SessionEnd } from '../../../components/sessions/ancestry.ts'
import { Overflowed } from '../../../components/context/compaction-state.ts'
import { defaultLimits, LastTurn, Limits, Turn } from '../../../components/agent/turn.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import { headerOf } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'
import type { Finding, WatchedTick } from '../law.ts'
import type { Concern } from '../tick-changes.ts'

export const turnCountsConcern = {
  set: [LastTurn, ModelCall, Overflowed],
  removed: [SessionEnd],
  events: ['tool-called'],
} satisfies Concern

interface Count {
  steps: number
  toolCalls: number
}

/** Steps and tool calls of each agent, counted from what starts and not from what its turn says. */
export class TurnCounts {
  readonly #counts = new Map<Entity, Count>()
  #last: Entity = 0

  /** @param before the counts when the world was released */
  constructor(world: World, before: TurnCounts | undefined) {
    this.#last = headerOf(world).next - 1
    for (const agent of [...world.entitiesWith(Turn), ...world.entitiesWith(Ancestry)]) {
      const known = before && before.#counts.get(agent)
      const steps =
        world.get(agent, Turn)?.steps ?? (world.has(agent, Ancestry) ? world.get(agent, LastTurn)?.steps : 0)
      this.#counts.set(agent, known ?? { steps: steps ?? 0, toolCalls: 0 })
    }
  }

  enter(tick: WatchedTick): Finding {
    const { changes } = tick
    if (changes.of(LastTurn).set.length > 0) this.#endTurns(tick)
    for (const agent of changes.of(SessionEnd).removed) this.#of(agent).steps = 0
    if (changes.of(Overflowed).set.length > 0) this.#takenBack(tick)
    const finding = changes.of(ModelCall).set.length === 0 ? undefined : this.#steps(tick)
    return finding ?? this.#toolCalls(tick)
  }

  #endTurns(tick: WatchedTick): void {
    for (const [agent] of tick.changes.of(LastTurn).set) {
      const count = this.#of(agent)
      count.toolCalls = 0
      // The steps of a session are counted over all its turns.
      if (!tick.world.has(agent, Ancestry)) count.steps = 0
    }
  }

  #steps(tick: WatchedTick): Finding {
    const { world } = tick
    for (const [effect] of tick.changes.of(ModelCall).set) {
      const agent = world.get(effect, OwnedBy)?.agent
      if (effect <= this.#last || agent === undefined) continue
      this.#last = effect
      const steps = ++this.#of(agent).steps
      const { maxSteps = defaultLimits.maxSteps } = world.get(agent, Limits) ?? {}
      if (steps > maxSteps) return `agent ${agent} takes step ${steps} of a turn that may have ${maxSteps}`
    }
    return undefined
  }

  /** A step that overflowed the context is undone, and does not count if the turn goes on. */
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
