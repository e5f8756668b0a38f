import type { StandardInput } from '../../protocol/input.ts'
import type { Input } from '../../world/input.ts'
import type { RecordedTick } from './recorded-answers.ts'

/** An input that is to come: of itself, when work ends or a time comes, or from outside, where it is there already. */
export interface ExpectedInput {
  readonly key: string
  /** From outside. */
  readonly input?: Input
}

/** What came into a world with one tick. */
export interface PacedGroup {
  /** World time. */
  readonly atMs: number
  readonly expected: readonly ExpectedInput[]
}

/** What is to come into a world, tick by tick; without what comes of parents and Runners, which nobody has to wait for. */
export function pacedGroups(
  label: string,
  ticks: readonly RecordedTick[],
  isOutside: (input: Input) => boolean,
): readonly PacedGroup[] {
  const settled = new Set<string>()
  return ticks.flatMap(({ tick, nowMs, inputs }, number) => {
    const expected = inputs.flatMap((input, index): readonly ExpectedInput[] => {
      const key = keyOf(input)
      if (key === undefined) {
        // What was there before the first tick belongs to the world as it is made.
        return number > 0 && isOutside(input) ? [{ key: `recorded ${label} ${tick}/${index}`, input }] : []
      }
      const effect = key.slice(key.indexOf(' '))
      // Whose outcome has come has no deadline any more.
      if (input.kind === 'due' && settled.has(effect)) return []
      if (input.kind === 'outcome') settled.add(effect)
      return [{ key }]
    })
    return expected.length === 0 ? [] : [{ atMs: nowMs, expected }]
  })
}

/** Names an input that comes of an effect; `undefined`: it does not. */
export function keyOf(input: Input | StandardInput): string | undefined {
  const { kind, effect, attempt } = input as Partial<Record<string, unknown>>
  const isOwn = kind === 'outcome' || kind === 'admitted' || kind === 'due'
  return isOwn ? `${kind} ${String(effect)}/${String(attempt)}` : undefined
}
