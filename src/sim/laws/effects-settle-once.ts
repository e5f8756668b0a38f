import { Due, Effect, Outcome, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'

const marks = [Due, Pending, Running]

export const effectsSettleOnce: Law = {
  name: 'effects-settle-once',
  meaning: 'Each effect is settled exactly once, and only while it is under way.',
  watch() {
    const byWorld = new Map<string, Effects>()
    return {
      began({ world }) {
        byWorld.set(world.name, new Effects(world, byWorld.get(world.name)))
        return undefined
      },
      ticked: (tick) => byWorld.get(tick.world.name)?.ticked(tick),
    }
  },
}

interface Known {
  attempt: number
  isOpen: boolean
  isDue: boolean
  /** Of a model call. */
  readonly agent: Entity | undefined
}

class Effects {
  readonly #known = new Map<Entity, Known>()
  readonly #settled = new Set<Entity>()
  readonly #answered: Set<Entity>
  readonly #decided: Set<string>

  constructor(world: World, before: Effects | undefined) {
    this.#answered = before === undefined ? new Set() : before.#answered
    this.#decided = before === undefined ? new Set() : before.#decided
    for (const effect of world.entitiesWith(Effect)) this.#learn(world, effect)
    for (const effect of world.entitiesWith(Outcome)) this.#settled.add(effect)
  }

  ticked(tick: WatchedTick): Finding {
    // In the order of a tick: inputs, events, outcomes.
    const { inputs, events } = tick.step
    const finding =
      (inputs.length > 0 ? this.#inputs(tick) : undefined) ?? (events.length > 0 ? this.#events(tick) : undefined)
    return finding ?? this.#outcomes(tick) ?? this.#follow(tick)
  }

  /** Only the first input that settles an effect counts, and none if the effect is not in flight. */
  #inputs({ step }: WatchedTick): Finding {
    let counts: Map<Entity, number> | undefined
    /** Those that one of these inputs settles: it may come behind one of an earlier try. */
    const taken = new Set<Entity>()
    for (const input of step.inputs) {
      if (input.kind !== 'outcome' && input.kind !== 'due') continue
      const effect = input['effect'] as Entity
      const takes = this.#takes(effect, input['attempt'] as number)
      // The usual case: one outcome, of one effect in flight.
      if (takes && step.inputs.length === 1) return undefined
      // The end of a wait between two tries settles nothing.
      if (input.kind === 'due' && this.#known.get(effect)?.isDue === true) continue
      counts ??= new Map()
      const isTaken = takes && !taken.has(effect)
      if (isTaken) taken.add(effect)
      counts.set(effect, (counts.get(effect) ?? 0) + (isTaken ? 0 : 1))
    }
    if (counts === undefined) return undefined
    for (const event of step.events) {
      const effect = event['effect'] as Entity
      if (event.type === 'input-dropped' && counts.has(effect)) counts.set(effect, (counts.get(effect) as number) - 1)
    }
    for (const [effect, count] of counts) {
      if (count <= 0) continue
      const why = this.#known.get(effect)?.isOpen === true ? 'has come to more than one end' : 'is not under way'
      return `effect ${effect} ${why}, and the extra input was not dropped`
    }
    return undefined
  }

  #takes(effect: Entity, attempt: number): boolean {
    const known = this.#known.get(effect)
    return known?.isOpen === true && known.attempt === attempt
  }

  #events({ step }: WatchedTick): Finding {
    for (const event of step.events) {
      const { type } = event
      if (type === 'approval-answered') {
        const approval = event['approval'] as string
        if (this.#decided.has(approval)) return `approval ${approval} was decided twice`
        this.#decided.add(approval)
      } else if (type === 'model-replied' || type === 'model-failed') {
        const effect = event['effect'] as Entity
        if (this.#answered.has(effect)) return `model call ${effect} was answered twice`
        if (!this.#known.has(effect)) return `model call ${effect} was answered, and never asked`
        this.#answered.add(effect)
      }
    }
    return undefined
  }

  #outcomes({ changes, world }: WatchedTick): Finding {
    const settled = changes.of(Outcome).set
    for (const [effect] of settled) {
      if (this.#settled.has(effect)) return `effect ${effect} had an outcome, and another one was written over it`
      const { isDue = false, isOpen: wasOpen = true } = this.#known.get(effect) ?? {}
      // It may be given up between two tries, or be created and settled in one tick.
      if (!wasOpen && !isDue && !changes.of(Effect).set.some(([asked]) => asked === effect)) {
        return `effect ${effect} was settled, and was not under way`
      }
      if (isOpen(world, effect)) return `effect ${effect} is settled, and still to be done`
    }
    for (const [effect] of settled) this.#settled.add(effect)
    return undefined
  }

  #follow(tick: WatchedTick): Finding {
    const { changes, world } = tick
    const { despawned } = tick.step.delta
    if (despawned !== undefined) {
      for (const effect of despawned) {
        const finding = this.#gone(tick, effect)
        if (finding !== undefined) return finding
      }
    }
    for (const [effect, { attempt }] of changes.of(Effect).set) {
      const before = this.#known.get(effect)?.attempt ?? 0
      if (attempt < before) return `effect ${effect} went back from try ${before} to try ${attempt}`
      this.#learn(world, effect)
    }
    for (const effect of changes.of(Outcome).removed) this.#settled.delete(effect)
    for (const effect of changes.of(Effect).removed) this.#known.delete(effect)
    for (const mark of marks) {
      const { removed, set } = changes.of(mark)
      for (const [effect] of set) this.#learn(world, effect)
      for (const effect of removed) this.#learn(world, effect)
    }
    return undefined
  }

  /** A model call is removed with its reply, its failure, its step, or its turn. */
  #gone({ step }: WatchedTick, effect: Entity): Finding {
    const known = this.#known.get(effect)
    this.#known.delete(effect)
    this.#settled.delete(effect)
    const agent = known?.agent
    const wasAnswered = this.#answered.delete(effect)
    if (agent === undefined || wasAnswered) return undefined
    const hasEnded = step.events.some(
      ({ agent: whose, type }) => (type === 'turn-ended' || type === 'step-stopped') && whose === agent,
    )
    if (hasEnded || step.delta.despawned?.includes(agent) === true) return undefined
    return `model call ${effect} is gone, and it has no outcome`
  }

  #learn(world: World, effect: Entity): void {
    const attempt = world.get(effect, Effect)?.attempt
    if (attempt === undefined) return
    const isDue = world.has(effect, Due)
    const known = this.#known.get(effect)
    if (known === undefined) {
      const agent = world.has(effect, ModelCall) ? world.get(effect, OwnedBy)?.agent : undefined
      this.#known.set(effect, { agent, attempt, isDue, isOpen: isOpen(world, effect) })
      return
    }
    known.attempt = attempt
    known.isDue = isDue
    known.isOpen = isOpen(world, effect)
  }
}

function isOpen(world: World, effect: Entity): boolean {
  return world.has(effect, Pending) || world.has(effect, Running)
}
