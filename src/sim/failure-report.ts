import { Conversation } from '../../components/agent/conversation.ts'
import { LastTurn } from '../../components/agent/turn.ts'
import type { Message } from '../protocol/message.ts'
import { textOf } from '../rules/projection/text-of.ts'
import { cutText } from '../base/cut-text.ts'
import type { DeepReadonly, Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { Fault } from './fault.ts'
import type { ShrunkCase } from './shrink.ts'
import type { SimulationResult } from './simulate.ts'
import type { Violation } from './run-recorder.ts'
import type { SimulateOptions } from './options.ts'

interface ReportDetails {
  readonly shrunk?: ShrunkCase | undefined
  /** The faults that struck did not break the law a second time. */
  readonly isUnsteady?: boolean
  readonly options?: readonly string[]
}

const reportBounds = { maxAgents: 4, maxMessages: 6, maxFaults: 30, maxMessageChars: 4_000 } as const

/** The report of a run that broke a law: what broke, where, the last messages, and a test that reproduces it. */
export function failureReport(result: SimulationResult, details: ReportDetails = {}): string {
  const { seed, violation, faults, worlds } = result
  if (violation === undefined) return `Seed ${seed}: no law was broken.`
  const { shrunk, isUnsteady = false, options } = details
  const parts = [
    headOf(seed, violation),
    talksOf(violation.world, worlds.get(violation.world)?.world),
    ['Faults that struck, in order', ...faultLines(faults)],
    ...(shrunk === undefined ? [] : [shrunkLines(shrunk, faults.length)]),
    ...(isUnsteady ? [wrapped(unsteady, '')] : []),
    ['A test to paste', '', pastedTest(result, shrunk ?? { faults, latencyMs: undefined }, options)],
  ]
  return parts.map((lines) => lines.join('\n')).join('\n\n')
}

function headOf(seed: number, { law, meaning, message, world, tick, atMs }: Violation): readonly string[] {
  const facts = [
    ...(meaning === law ? [] : [['law', meaning] as const]),
    ['seed', String(seed)] as const,
    ['where', `world ${world}, tick ${tick}, at ${grouped(atMs)} ms of world time`] as const,
    ['found', message] as const,
  ]
  return [
    ...wrapped(`A law was broken: ${law}`, ''),
    ...facts.flatMap(([name, text]) => {
      const [first = '', ...rest] = wrapped(text, ' '.repeat(9))
      return [`  ${name.padEnd(7)}${first.slice(9)}`, ...rest]
    }),
  ]
}

function talksOf(label: string, world: World | undefined): readonly string[] {
  const agents = world?.entitiesWith(Conversation) ?? []
  if (world === undefined || agents.length === 0) return [`No messages in world ${label}.`]
  const shown = agents.slice(0, reportBounds.maxAgents)
  const rest = agents.length - shown.length
  return [
    `Last messages in world ${label}`,
    ...shown.flatMap((agent) => talkOf(world, agent)),
    ...(rest > 0 ? [`  … and by ${rest} more agents`] : []),
  ]
}

function talkOf(world: World, agent: Entity): readonly string[] {
  const messages = world.read(agent, Conversation)
  const last = messages.slice(-reportBounds.maxMessages)
  const before = messages.length - last.length
  const turn = world.get(agent, LastTurn)
  const { kind, message } = turn?.failure ?? {}
  const why = kind === undefined ? '' : `: ${kind}, ${message}`
  return [
    `  agent ${agent}${before > 0 ? `, after ${before} other messages` : ''}`,
    ...last.flatMap(said).map((line) => reportLine(`    ${line}`)),
    ...(turn === undefined ? [] : wrapped(`Its last turn ended, ${turn.stop}${why}`, ' '.repeat(4))),
  ]
}

function said(message: DeepReadonly<Message>): readonly string[] {
  const who = `${message.role.padEnd(9)} `
  const text = textOf(message)
  const files = message.content.filter(({ type }) => type === 'file').map(() => `${who} (a file)`)
  if (message.role === 'tool') {
    return [`${who} ${message.name}${message.isError === true ? ' failed' : ''}: ${text}`, ...files]
  }
  const calls = message.content.flatMap((block) => {
    if (block.type !== 'tool-call') return []
    return [`${who} calls ${block.name}(${block.malformed ?? JSON.stringify(block.arguments)})`]
  })
  const lines = [...(text === '' ? [] : [`${who} ${text}`]), ...files, ...calls]
  return lines.length > 0 ? lines : [`${who} (nothing)`]
}

function reportLine(text: string): string {
  const line = cutText(text, reportBounds.maxMessageChars).replaceAll(/\n\s*/g, ' ').trimEnd()
  return cutText(line, reportColumns, '…')
}

function faultLines(faults: readonly Fault[]): readonly string[] {
  if (faults.length === 0) return ['  none']
  const from = Math.max(0, faults.length - reportBounds.maxFaults)
  const width = String(faults.length).length
  const before = from === 0 ? [] : [`  … ${from} before these`]
  const lines = faults.slice(from).map(({ what, at, ms }, index) => {
    const number = String(from + index + 1).padStart(width)
    return `  ${number}. ${what.padEnd(24)} at ${at}${ms === undefined ? '' : `, ${grouped(ms)} ms`}`
  })
  return [...before, ...lines]
}

function shrunkLines({ faults, latencyMs, result, runs, endedBy }: ShrunkCase, before: number): readonly string[] {
  const { tick, world, message } = result.violation as Violation
  const head = needOf(faults.length, before)
  const quick = latencyMs === undefined ? '' : ', with shorter latencies'
  const bound = endedBy === undefined ? '' : ` (${endedBy} of shrink() was reached)`
  return [
    ...wrapped(`${head}${quick}: found in ${runs} runs${bound}, the last of which confirms it`, ''),
    ...faultLines(faults),
    ...wrapped(`It is broken in world ${world} at tick ${tick}: ${message}`, '  '),
  ]
}

function needOf(left: number, before: number): string {
  if (before === 0) return 'It needs no fault'
  if (left === 0) return before === 1 ? 'It does not need this one' : `It needs none of these ${before}`
  if (left === before) return before === 1 ? 'It cannot be left out' : 'None of them can be left out'
  return `${left} of ${before} ${left === 1 ? 'is' : 'are'} enough`
}

const unsteady =
  'The same faults did not break the law again. Something in the run follows neither from the seed nor from the ' +
  'options: most often state that a tool, a script or a law keeps from run to run. Make it anew for each run, or ' +
  'keep it in a service.'

function grouped(number: number): string {
  return String(Math.round(number)).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',')
}

const reportColumns = 96

function wrapped(text: string, indent: string): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const own = /^\s*/.exec(paragraph)?.[0] ?? ''
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.trim().split(/\s+/)) {
      const isFull = line !== '' && indent.length + own.length + line.length + 1 + word.length > reportColumns
      if (isFull) lines.push(line)
      line = isFull || line === '' ? word : `${line} ${word}`
    }
    return [...lines, line].map((each) => `${indent}${own}${each}`.trimEnd())
  })
}

const usualOptions = ['world', 'models', 'tools', 'services', 'users', 'laws']
const maxLawChars = 60

/** A vitest test that reproduces the run, complete except for the options only the program has. */
export function pastedTest(
  { isKept, seed, violation }: Pick<SimulationResult, 'isKept' | 'seed' | 'violation'>,
  { faults, latencyMs }: Pick<ShrunkCase, 'faults' | 'latencyMs'>,
  options: readonly string[] = usualOptions,
): string {
  const { law } = violation as Violation
  const written = new Set([
    'seed',
    'faults',
    ...(isKept ? [] : ['store']),
    ...(latencyMs === undefined ? [] : ['latencyMs']),
  ])
  const own = options.filter((name) => !written.has(name))
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
    ...(isKept ? [] : ["    store: 'none',"]),
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

function quoted(text: string): string {
  const escaped = JSON.stringify(text)
  return text.includes("'") ? escaped : `'${escaped.slice(1, -1).replaceAll('\\"', '"')}'`
}
