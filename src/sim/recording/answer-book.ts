import { type Asked, sharedMessages } from './asked.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { InputOf } from '../../protocol/input.ts'
import type { Entity } from '../../world/component.ts'

/** Identifies a call in a run and in its replay. */
export interface CallPlace {
  readonly label: string
  readonly agent: Entity | undefined
  /** The agent's call of that kind in that world, from 1. */
  readonly step: number
  readonly attempt: number
}

export interface RecordedCall extends CallPlace {
  readonly asked: Asked
  readonly latencyMs: number
  /** What it kept under handles meanwhile, in order. */
  readonly kept: readonly RecordedValue[]
  /**
   * `called-off`: settled without an outcome, by a deadline or a cancel; `cut-off`: the recording ends while it was in
   * flight.
   */
  readonly outcome: OutcomeData | 'called-off' | 'cut-off'
}

export interface RecordedValue {
  readonly input: InputOf<'handle-kept'>
  /** Since the call began. */
  readonly latencyMs: number
}

export class StepCounter {
  readonly #steps = new Map<string, Map<Entity, number>>()

  /** The number of a call among its agent's; the same for each try. */
  stepOf(label: string, agent: Entity | undefined, kind: string, effect: Entity): number {
    const whose = `${label} ${agent ?? '-'} ${kind}`
    let steps = this.#steps.get(whose)
    if (steps === undefined) this.#steps.set(whose, (steps = new Map<Entity, number>()))
    const known = steps.get(effect) ?? steps.size + 1
    steps.set(effect, known)
    return known
  }
}

/** The answers of a recording, by request. Each is given once. */
export class AnswerBook {
  readonly #calls: readonly RecordedCall[]
  readonly #left: Map<string, RecordedCall[]>
  /** Given answers, by call key: a call repeated after a crash gets the same. */
  readonly #given = new Map<string, RecordedCall>()

  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls
    this.#left = Map.groupBy(calls, ({ asked }) => keyOf(asked))
  }

  /**
   * The answer to a request: of equal requests, the one nearest to the call's place. @param key the same when the call
   * is repeated
   */
  take(asked: Asked, place: CallPlace, key: string): RecordedCall | undefined {
    const again = this.#given.get(key)
    if (again !== undefined && again.asked.fingerprint === asked.fingerprint) return again
    const left = this.#left.get(keyOf(asked)) ?? []
    const [first, ...others] = left
    if (first === undefined) return undefined
    const found = others.reduce((best, call) => (nearness(call, place) > nearness(best, place) ? call : best), first)
    left.splice(left.indexOf(found), 1)
    this.#given.set(key, found)
    return found
  }

  nearest(asked: Asked, place: CallPlace): RecordedCall | undefined {
    const ofKind = this.#calls.filter((call) => call.asked.kind === asked.kind)
    const same = ofKind.find((call) => nearness(call, place) >= sameStep)
    if (same !== undefined) return same
    let best: RecordedCall | undefined
    let most = -1
    for (const call of ofKind) {
      const likeness = likenessOf(call.asked, asked)
      if (likeness > most) [best, most] = [call, likeness]
    }
    return best
  }
}

function keyOf({ kind, fingerprint }: Asked): string {
  return `${kind} ${fingerprint.toString(36)}`
}

const sameStep = 3

/** 4: the same call; 3: another try of it; 2: of its agent; 1: of its world; 0: of another world. */
function nearness(call: CallPlace, place: CallPlace): number {
  if (call.label !== place.label) return 0
  if (call.agent !== place.agent) return 1
  if (call.step !== place.step) return 2
  return call.attempt === place.attempt ? sameStep + 1 : sameStep
}

function likenessOf(recorded: Asked, asked: Asked): number {
  if (recorded.request !== undefined && asked.request !== undefined) {
    return sharedMessages(recorded.request, asked.request)
  }
  return recorded.name === asked.name ? 1 : 0
}
