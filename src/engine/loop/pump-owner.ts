import type { StandardInput } from '../../protocol/input.ts'
import type { OwnInput } from '../../world/input.ts'
import type { Children } from '../children/children.ts'
import type { PumpOwner } from '../effects/pump.ts'
import type { Entrance } from './entrance.ts'
import type { Listeners } from './listeners.ts'
import type { TextsSoFar } from './texts-so-far.ts'

export interface PumpOwnerParts {
  readonly children: () => Children
  /** Has an input enter when a simulation delivers it. Absent: at once. */
  readonly deliver: ((input: StandardInput, enter: () => void) => void) | undefined
  readonly entrance: Entrance
  readonly listeners: Listeners
  readonly post: (input: StandardInput | OwnInput, id: string) => Promise<unknown>
  readonly texts: TextsSoFar
}

/** What a Runner does for the effects under way: takes what they give for its world, and emits what they stream. */
export function pumpOwner({ children, deliver, entrance, listeners, post, texts }: PumpOwnerParts): PumpOwner {
  const delivered = (input: StandardInput, enter: () => unknown): Promise<unknown> =>
    new Promise((resolve) => (deliver ?? atOnce)(input, () => resolve(enter())))
  return {
    post: (input) => (deliver === undefined ? entrance.enter(input) : deliver(input, () => entrance.enter(input))),
    emit(event) {
      texts.hear(event)
      listeners.emit(event)
    },
    gone: (effect) => texts.forget(effect),
    values() {
      const { maxKeptBytes, records } = children()
      return { enter: (input) => delivered(input, () => entrance.take(input)), maxKeptBytes, records }
    },
    enter: (input, id) => delivered(input as StandardInput, () => post(input, id)),
    dropped: () => void entrance.dropped++,
  }
}

function atOnce(_: StandardInput, enter: () => void): void {
  enter()
}
