import type { OutcomeData } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import type { Asked } from './asked.ts'

/** Where a call is made, in words that hold for a run and for its replay. */
export interface CallPlace {
  /** Label of the world. */
  readonly label: string
  /** Whose call it is; absent: no agent's. */
  readonly agent: Entity | undefined
  /** The agent's call of that kind in that world, from 1. */
  readonly step: number
  /** Try of the call. */
  readonly attempt: number
}

/** A call as a recording has it. */
export interface RecordedCall extends CallPlace {
  readonly asked: Asked
  /** World time for which it was under way. */
  readonly latencyMs: number
  /**
   * What came back. `called-off`: it was settled without that, by a deadline or a cancel; `cut-off`: the recording ends
   * while it was under way.
   */
  readonly outcome: OutcomeData | 'called-off' | 'cut-off'
}

/** Counts the calls of each agent. */
export class StepCounter {
  readonly #steps = new Map<string, Map<Entity, number>>()

  /** Which of its agent's calls an effect is: the same for each of its tries. */
  stepOf(label: string, agent: Entity | undefined, kind: string, effect: Entity): number {
    const whose = `${label} ${agent ?? '-'} ${kind}`
    let steps = this.#steps.get(whose)
    if (steps === undefined) this.#steps.set(whose, (steps = new Map<Entity, number>()))
    const known = steps.get(effect) ?? steps.size + 1
    steps.set(effect, known)
    return known
  }
}
