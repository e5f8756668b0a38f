import { cutText } from '../rules/text/cut-text.ts'
import type { Fault } from './fault.ts'
import type { SimulateOptions } from './options.ts'

/** What a test makes again. */
export interface PastedCase {
  readonly seed: number
  /** Name of the law that is broken. */
  readonly law: string
  readonly faults: readonly Fault[]
  readonly latencyMs: SimulateOptions['latencyMs']
  /** Names of the options that were given. `undefined`: nobody knows. */
  readonly options: readonly string[] | undefined
}

/** Those that nearly everybody gives, for when nobody knows. */
const usualOptions = ['world', 'models', 'tools', 'services', 'users', 'laws']
/** Longest name of a law in the name of a test. */
const maxLawChars = 60

/** A test for vitest that makes a broken run again, complete but for the options that only a program has. */
export function pastedTest({ seed, law, faults, latencyMs, options = usualOptions }: PastedCase): string {
  const said = new Set(['seed', 'faults', ...(latencyMs === undefined ? [] : ['latencyMs'])])
  const own = options.filter((name) => !said.has(name))
  const name = law.length > maxLawChars ? `${cutText(law, maxLawChars)}…` : law
  return [
    "import { simulate } from 'entia/sim'",
    "import { expect, it } from 'vitest'",
    '',
    `it(${quoted(`keeps "${name}" under seed ${seed}`)}, async () => {`,
    '  const result = await simulate({',
    `    // Here go your own options: ${own.join(', ')}.`,
    `    seed: ${seed},`,
    ...(latencyMs === undefined ? [] : [`    latencyMs: ${latencyText(latencyMs)},`]),
    ...(faults.length === 0
      ? ['    faults: [],']
      : ['    faults: [', ...faults.map((fault) => `      ${faultText(fault)},`), '    ],']),
    '  })',
    '  expect(result.violation).toBeUndefined()',
    '  expect(result.ok).toBe(true)',
    '})',
  ].join('\n')
}

function faultText({ what, at, ms }: Fault): string {
  return `{ what: ${quoted(what)}, at: ${quoted(at)}${ms === undefined ? '' : `, ms: ${ms}`} }`
}

function latencyText(latencyMs: NonNullable<SimulateOptions['latencyMs']>): string {
  const ranges = Object.entries(latencyMs).map(([name, [min, max]]) => `${name}: [${min}, ${max}]`)
  return `{ ${ranges.join(', ')} }`
}

/** A text as a program has it, on one line. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text)
  return text.includes("'") ? escaped : `'${escaped.slice(1, -1).replaceAll('\\"', '"')}'`
}
