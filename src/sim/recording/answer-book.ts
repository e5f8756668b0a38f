import { type Asked, sharedMessages } from './asked.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'

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

/** The answers of a recording, found by what was asked. Each is given once. */
export class AnswerBook {
  readonly #calls: readonly RecordedCall[]
  readonly #left = new Map<string, RecordedCall[]>()
  /** What was given, by the call's own key: a call that is made once more after a crash gets the same. */
  readonly #given = new Map<string, RecordedCall>()

  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls
    for (const call of calls) {
      const key = keyOf(call.asked)
      const others = this.#left.get(key)
      if (others === undefined) this.#left.set(key, [call])
      else others.push(call)
    }
  }

  /**
   * The answer to a call: of several calls that ask the same that of its own place, or else the first of its agent, of its
   * world, of all.
   *
   * @param key the same when the call is made again
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

  /** The recorded call that one which was not recorded is best compared with. */
  nearest(asked: Asked, place: CallPlace): RecordedCall | undefined {
    const ofKind = this.#calls.filter((call) => call.asked.kind === asked.kind)
    const same = ofKind.find((call) => nearness(call, place) >= sameStep)
    if (same !== undefined) return same
    const likeness = (call: RecordedCall): number => likenessOf(call.asked, asked)
    let best: RecordedCall | undefined
    let most = -1
    for (const call of ofKind) {
      const likely = likeness(call)
      if (likely > most) [best, most] = [call, likely]
    }
    return best
  }
}

function keyOf({ kind, fingerprint }: Asked): string {
  return `${kind} ${fingerprint.toString(36)}`
}

const sameStep = 3

/** 4: the very call; 3: another try of it; 2: its agent's; 1: its world's; 0: another one's. */
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
