import type { ModelProvider } from '../../models/port.ts'
import type { Price } from '../../rules/money/price-overrides.ts'
import { SessionPool } from '../children/pool.ts'
import type { SkillDefinition } from '../children/port.ts'
import type { Tool } from '../../tools/port.ts'
import type { Approve } from './approval-effect.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { refuseNoList, refuseNoTable, refuseUnknownOptions, shortly } from '../../base/known-options.ts'
import {
  type Shape,
  type ShapesOf,
  filledText,
  listOf,
  objectWith,
  oneOf,
  refuseMisfit,
  refuseMisfits,
  table,
  tableOf,
  text,
} from '../../base/option-shapes.ts'
import type { Clock } from '../loop/clock.ts'
import type { EffectKind } from './effect-kind.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { RetryPolicy } from '../../protocol/failure.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import { canonical } from '../../world/canonical.ts'
import { issueText } from '../../base/issue-text.ts'
import { fingerprint } from '../../world/random.ts'
import type { World } from '../../world/world.ts'

/** What happens to saved tools that the Host declares differently. */
export type ToolChangePolicy = 'keep' | 'refresh' | 'refuse'

/** Options of `new Host`. */
export interface HostOptions {
  /** Providers by name, the part of a model's name before the slash; besides the built-in ones. */
  readonly models?: Readonly<Record<string, ModelProvider>>
  /** Handlers of the tools that agents declare, by name. @default none */
  readonly tools?: readonly Tool[]
  /**
   * What happens to tools of saved agents that this Host declares differently, or lacks. `refresh`: changed declarations are
   * replaced, missing ones dropped and their open calls answered. `keep`: they stay; calls of a missing tool fail. `refuse`:
   * the start throws `tool-changed`. Tools are never added automatically: see `runner.addTool`.
   * @default 'refresh'
   */
  readonly onToolChange?: ToolChangePolicy
  /** The catalogue that subagents get skills from. @default none */
  readonly skills?: readonly SkillDefinition[]
  /** Asks a user; `by-input`: answers are posted as inputs. Absent: no tool that needs approval runs. */
  readonly approve?: Approve | 'by-input'
  /** Kinds of effects besides the built-in ones. */
  readonly effects?: Readonly<Record<string, EffectKind>>
  /** @default real time */
  readonly clock?: Clock
  /** Most effects at work at once, without approvals and sessions. @default 1024 */
  readonly maxInFlight?: number
  /** Most calls at work at once per provider; by name, or for each. @default no limit besides `maxInFlight` */
  readonly maxInFlightPerProvider?: number | Readonly<Record<string, number>>
  /** Most sessions at once in the pool that all Hosts of the process share; they must agree. @default 5 */
  readonly maxSessions?: number
  /** A pool of its own, instead of the process's. */
  readonly sessionPool?: SessionPool
  /** Folder in which the results of sessions are kept as files. Absent: they are kept in the Store. */
  readonly artifacts?: string
  /**
   * Without `artifacts` and store: longest result, summary or prompt of an ended session that its world keeps, in bytes of
   * UTF-8. A longer result can be read until the Runner stops; a failed session with a longer prompt cannot be resumed.
   * @default 262144
   */
  readonly maxRecordBytes?: number
  /**
   * A world that records all ticks is also saved whole after so many of them, so that each tick is read fast; later where what
   * it did since is less than half as long as a snapshot of it.
   * @default 500
   */
  readonly ticksPerSnapshot?: number
  /**
   * What models cost, and their context windows, by `provider/model`, by the model's name or by a prefix of either,
   * case-insensitive. The rest is taken from the package's price list. @default none
   */
  readonly prices?: Readonly<Record<string, Price>>
}

/** What holds for a Host where its options say nothing. */
export const hostDefaults = {
  maxInFlight: 1_024,
  maxRecordBytes: 262_144,
  onToolChange: 'refresh',
  ticksPerSnapshot: 500,
} as const

const limit: Shape = {
  wanted: 'an integer ≥ 1, or Infinity',
  fits: (value) => value === Infinity || (Number.isInteger(value) && (value as number) >= 1),
}

const shapes: ShapesOf<Omit<HostOptions, 'maxSessions'>> = {
  models: table,
  tools: { wanted: 'a list', fits: Array.isArray },
  onToolChange: oneOf('refresh', 'keep', 'refuse'),
  skills: listOf({ wanted: 'a skill, { name, prompt, tools }', fits: isSkill }),
  approve: {
    wanted: "a function that asks a person, or 'by-input'",
    fits: (value) => typeof value === 'function' || value === 'by-input',
  },
  effects: tableOf(objectWith('a kind of effects, { prepare }', 'prepare')),
  clock: objectWith('a clock, { now, date, at }', 'now', 'date', 'at'),
  maxInFlight: limit,
  maxInFlightPerProvider: {
    wanted: 'an integer ≥ 1, or an object of these by provider',
    fits: (value) => typeof value === 'number' || table.fits(value),
  },
  sessionPool: { wanted: 'a SessionPool', fits: (value) => value instanceof SessionPool },
  artifacts: filledText,
  maxRecordBytes: limit,
  ticksPerSnapshot: limit,
  prices: table,
}

export const hostOptionNames: readonly string[] = [...Object.keys(shapes), 'maxSessions']

export function checkHostOptions(options: HostOptions): void {
  refuseUnknownOptions('Host', options, hostOptionNames)
  const { effects, maxInFlightPerProvider, maxSessions, models, sessionPool, skills, tools } = options
  refuseNoList('Host', 'tools', tools)
  refuseNoList('Host', 'skills', skills)
  refuseNoTable('Host', 'models', models, '{ script: scripted(…) }')
  refuseNoTable('Host', 'effects', effects, '{ reminder: { prepare } }')
  for (const [index, tool] of (tools ?? []).entries()) {
    if (isTool(tool)) continue
    const advice = Array.isArray(tool) ? 'spread the list: tools: [...more]' : 'make one with defineTool'
    throw new EntiaError('invalid-argument', `Host: tools[${index}] is no tool, got ${shortly(tool)}: ${advice}.`)
  }
  if (isProvider(models)) {
    const what = 'Host: models must be an object, by name, got a model provider'
    throw new EntiaError('invalid-argument', `${what}. Write models: { script: scripted(…) }.`, { option: 'models' })
  }
  for (const [name, model] of Object.entries(models ?? {})) {
    if (isProvider(model)) continue
    const what = `Host: models.${name} must be a model provider, got ${shortly(model)}`
    throw new EntiaError('invalid-argument', `${what}: make one with anthropic(), openai() or scripted(…).`)
  }
  refuseMisfits('Host', options, shapes)
  const limits =
    typeof maxInFlightPerProvider === 'object' ? maxInFlightPerProvider : { each: maxInFlightPerProvider ?? Infinity }
  for (const [name, max] of Object.entries(limits)) refuseMisfit('Host', `maxInFlightPerProvider (${name})`, max, limit)
  if (sessionPool === undefined || maxSessions === undefined) return
  throw new EntiaError('invalid-argument', "Host: maxSessions beside 'sessionPool', which has a cap of its own.")
}

function isTool(tool: unknown): tool is Tool {
  const { call, declaration } = (tool ?? {}) as Partial<Tool>
  return typeof call === 'function' && typeof declaration?.name === 'string'
}

function isSkill(value: unknown): boolean {
  if (!table.fits(value)) return false
  const { name, description, prompt, tools = [] } = value as Readonly<Record<string, unknown>>
  const areTexts = [description, prompt].every((each) => each === undefined || text.fits(each))
  return filledText.fits(name) && areTexts && Array.isArray(tools) && tools.every(isTool)
}

/** A function has a method `call` as well. */
function isProvider(model: unknown): model is ModelProvider {
  return typeof model === 'object' && model !== null && 'call' in model && typeof model.call === 'function'
}

/** The facts of a Host that systems decide by; a World gets them at a start. */
export function factsOf(
  providers: Readonly<Record<string, ModelProvider>>,
  tools: readonly Tool[],
  skills: ReadonlyMap<string, SkillDefinition>,
): HostFactsData {
  const retry: Record<string, RetryPolicy | false> = {}
  const settings: Record<string, number> = {}
  for (const [name, provider] of Object.entries(providers)) {
    if (provider.retry !== undefined) retry[name] = checkedRetry(name, provider.retry)
    if (provider.settings !== undefined) settings[name] = settingsHash(provider)
  }
  return canonical(
    {
      retry,
      ...filled('settings', settings),
      ...filled('skills', Object.fromEntries([...skills].map(([name, skill]) => [name, hashesOf(skill.tools ?? [])]))),
      ...filled('tools', hashesOf(tools)),
    },
    () => 'the facts about the Host',
  ) as HostFactsData
}

function checkedRetry(name: string, retry: RetryPolicy | false): RetryPolicy | false {
  const issue = retry === false ? undefined : RetryPolicy().safeParse(retry).error?.issues[0]
  if (issue === undefined) return retry
  throw new EntiaError('invalid-argument', `Host: models.${name}: retry${issueText(issue)}.`, { option: 'models' })
}

const noFacts: HostFactsData = { retry: {} }

export function newFacts(world: World, facts: HostFactsData): HostFactsData | undefined {
  const [known] = world.entitiesWith(HostFacts)
  const before = known === undefined ? noFacts : world.read(known, HostFacts)
  return before === facts || JSON.stringify(before) === JSON.stringify(facts) ? undefined : facts
}

function hashesOf(tools: readonly Tool[]): Record<string, number> {
  return Object.fromEntries(tools.map(({ declaration }) => [declaration.name, declarationHash(declaration)]))
}

function settingsHash({ settings }: ModelProvider): number {
  return fingerprint(JSON.stringify(canonical(settings, () => "a provider's settings"))) % 2 ** 31
}

function filled(name: string, values: object): object {
  return Object.keys(values).length === 0 ? {} : { [name]: values }
}
