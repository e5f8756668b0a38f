import type { ModelProvider } from '../../models/port.ts'
import type { Price } from '../../rules/money/price-overrides.ts'
import type { SessionPool } from '../children/pool.ts'
import type { SkillDefinition } from '../children/port.ts'
import type { Tool } from '../../tools/port.ts'
import type { Approve } from './approval-effect.ts'
import type { Clock } from '../loop/clock.ts'
import type { EffectKind } from './effect-kind.ts'

/** What a Host does about tools that have changed since agents were saved. */
export type ToolChangePolicy = 'keep' | 'refresh' | 'refuse'

export interface HostOptions {
  /** Providers by name, the part of a model's name before the slash. The built-in ones are there besides. */
  readonly models?: Readonly<Record<string, ModelProvider>>
  readonly tools?: readonly Tool[]
  /**
   * What becomes of the tools of saved agents that this Host declares otherwise than the last one, or has no more. `refresh`:
   * changed declarations are replaced, vanished ones dropped and their open calls answered. `keep`: they stay; calls of a
   * vanished tool fail. `refuse`: the start throws `tool-changed`. No tool is ever added by itself: see `runner.addTool`.
   *
   * @default 'refresh'
   */
  readonly onToolChange?: ToolChangePolicy
  /** The catalogue that subagents get skills from. @default none */
  readonly skills?: readonly SkillDefinition[]
  /** Asks a person; `by-input`: answers are posted as inputs. Absent: nobody is there, and no tool that needs approval runs. */
  readonly approve?: Approve | 'by-input'
  /** Kinds of effects besides the built-in ones. */
  readonly effects?: Readonly<Record<string, EffectKind>>
  /** @default real time */
  readonly clock?: Clock
  /** Most effects at work at once, approvals and sessions aside. @default 1024 */
  readonly maxInFlight?: number
  /** Most calls at work at once per provider; by name, or for each. @default as many as in all */
  readonly maxInFlightPerProvider?: number | Readonly<Record<string, number>>
  /** Most sessions at once in the pool that all Hosts of the process share; they have to agree. @default 5 */
  readonly maxSessions?: number
  /** A pool of its own, instead of the process's. */
  readonly sessionPool?: SessionPool
  /** Folder in which the results of sessions are kept as files. Absent: they are kept in the Store. */
  readonly artifacts?: string
  /**
   * Without `artifacts` and without a store: longest result, summary or prompt of an ended session that its world keeps, in
   * bytes of UTF-8. A longer result can be read until the Runner stops; a session with a longer prompt that has failed is
   * not resumed. @default 262144
   */
  readonly maxRecordBytes?: number
  /**
   * What models cost, and their context windows, by `provider/model`, by the model's name or by the beginning of either,
   * in any case. What is left out is taken from the price list that comes with the package. @default none
   */
  readonly prices?: Readonly<Record<string, Price>>
}

/** Names of the options of a Host, by which others tell theirs apart. */
export const hostOptionNames: readonly (keyof HostOptions)[] = [
  'models',
  'tools',
  'onToolChange',
  'skills',
  'approve',
  'effects',
  'clock',
  'maxInFlight',
  'maxInFlightPerProvider',
  'maxSessions',
  'sessionPool',
  'artifacts',
  'maxRecordBytes',
  'prices',
]

export const hostDefaults = { maxInFlight: 1_024, maxRecordBytes: 262_144, onToolChange: 'refresh' } as const
