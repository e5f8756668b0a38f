import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import { cleanName } from '../../tools/files/clean-text.ts'
import { shortNumberText } from '../terminal/amounts.ts'

/** What a person wants to see at any time. What is not known is absent. */
export interface StatusFacts {
  /** `provider/model`. */
  readonly model: string
  /** The last part of the working folder's path. */
  readonly folder: string
  /** Of its git repository. */
  readonly branch?: string | undefined
  /** Tokens of all models so far. */
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
  /** Some calls are not in it: they have no price, or were cut. */
  readonly hasUnknownCost?: boolean | undefined
  /** Of the context window, from 0 on. */
  readonly fullness?: number | undefined
  readonly isPlanning: boolean
  readonly shells: number
  readonly subagents: number
}

/** A part of the line. */
interface Part {
  readonly text: string
  /** Those with the lowest go first. */
  readonly rank: number
}

const between = ' · '
/** Below this there is no line. */
const minColumns = 12
const maxNameColumns = 40

/** One row, no wider than the terminal; parts that have no room are left out. Empty: there is room for none. */
export function statusLine(facts: StatusFacts, columns: number): string {
  if (columns < minColumns) return ''
  const parts = partsOf(facts)
  while (parts.length > 1 && stringWidth(joined(parts)) > columns) {
    const lowest = Math.min(...parts.map(({ rank }) => rank))
    parts.splice(
      parts.findIndex(({ rank }) => rank === lowest),
      1,
    )
  }
  return cliTruncate(joined(parts), columns)
}

function joined(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(between)
}

function partsOf(facts: StatusFacts): Part[] {
  const { branch, costUsd, folder, fullness, hasUnknownCost, inputTokens, isPlanning, model, outputTokens } = facts
  const place = shortened(folder) + (branch === undefined ? '' : ` (${shortened(branch)})`)
  return [
    { text: shortened(model), rank: 9 },
    ...(isPlanning ? [{ text: 'plan mode', rank: 8 }] : []),
    { text: place, rank: 4 },
    ...(inputTokens === undefined ? [] : [{ text: `${shortNumberText(inputTokens)} in`, rank: 1 }]),
    ...(outputTokens === undefined ? [] : [{ text: `${shortNumberText(outputTokens)} out`, rank: 2 }]),
    ...(costUsd === undefined
      ? []
      : [{ text: `$${costUsd.toFixed(2)}${hasUnknownCost === true ? ' +' : ''}`, rank: 3 }]),
    ...(fullness === undefined ? [] : [{ text: `${Math.round(fullness * 100)}% of the window`, rank: 6 }]),
    ...background(facts),
  ]
}

function background({ shells, subagents }: StatusFacts): Part[] {
  const counts = [
    ...(shells === 0 ? [] : [shells === 1 ? '1 shell' : `${shells} shells`]),
    ...(subagents === 0 ? [] : [subagents === 1 ? '1 subagent' : `${subagents} subagents`]),
  ]
  return counts.length === 0 ? [] : [{ text: counts.join(', '), rank: 7 }]
}

function shortened(name: string): string {
  return cliTruncate(cleanName(name), maxNameColumns, { position: 'middle' })
}
