import type { AtRest, Finding, Law, StoreEvent, WatchedLetter } from '../law.ts'

/** What a letter says, as far as this law knows letters. */
interface Said {
  readonly input?: { readonly kind?: unknown; readonly id?: unknown }
}

interface Box {
  /** Ids of inputs that ticks of the world have taken. */
  readonly taken: Set<string>
  /** Letters that were sent and not seen again, by what they say. */
  readonly waiting: Map<string, WatchedLetter>
  /** Numbers of letters that are gone. */
  readonly gone: Set<number>
  lastInput: number
}

/** Several processes: what is sent to a world is taken by one of its ticks, in order, or still there. */
export const lettersOnce: Law = {
  name: 'letters-once',
  meaning: 'A letter with an input is taken by exactly one committed tick, in the order of sending, or is still there.',
  watch() {
    const boxes = new Map<string, Box>()
    const boxOf = (world: string): Box => {
      let box = boxes.get(world)
      if (box === undefined) {
        boxes.set(world, (box = { taken: new Set(), waiting: new Map(), gone: new Set(), lastInput: 0 }))
      }
      return box
    }
    const sent = (letter: WatchedLetter): void => {
      if (inputIn(letter.line) !== undefined) boxOf(letter.world).waiting.set(letter.line, letter)
    }
    return {
      store(event) {
        if (event.type === 'opened') return undefined
        for (const letter of event.type === 'posted' ? [event.letter] : event.sent) sent(letter)
        return event.type === 'posted' ? undefined : taken(boxOf(event.world), event)
      },
      atRest: (rest) => missing(rest, boxes),
    }
  },
}

function taken(
  box: Box,
  { step, taken: letters, world }: Extract<StoreEvent, { readonly type: 'committed' }>,
): Finding {
  const inputs = new Set((step?.inputs ?? []).flatMap(({ id }) => (typeof id === 'string' ? id : [])))
  for (const { line, number } of letters) {
    if (box.gone.has(number)) return `letter ${number} to ${world} is taken a second time: ${line}`
    box.gone.add(number)
    box.waiting.delete(line)
    const { id, kind } = inputIn(line) ?? {}
    // An answer may go to a world below, and it waits until that has taken it.
    if (typeof id !== 'string' || kind === 'answer') continue
    if (number < box.lastInput) return `letter ${number} to ${world} is taken behind letter ${box.lastInput}: ${line}`
    box.lastInput = number
    if (!inputs.has(id) && !box.taken.has(id))
      return `letter ${number} to ${world} is gone, and no tick has taken it: ${line}`
  }
  for (const id of inputs) box.taken.add(id)
  return undefined
}

function missing({ worlds }: AtRest, boxes: ReadonlyMap<string, Box>): Finding {
  for (const [world, { waiting }] of boxes) {
    const there = new Set(worlds.find(({ name }) => name === world)?.letters.map(({ line }) => line))
    const lost = [...waiting.keys()].find((line) => !there.has(line))
    if (lost !== undefined) return `a letter to ${world} is neither taken nor there: ${lost}`
  }
  return undefined
}

function inputIn(line: string): Said['input'] {
  return (JSON.parse(line) as Said).input
}
