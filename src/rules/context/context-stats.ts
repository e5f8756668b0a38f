import { Archive, ArchiveJob } from '../../../components/context/archive.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { CompactionState } from '../../../components/context/compaction-state.ts'
import { Context } from '../../../components/context/context.ts'
import { CostCeiling } from '../../../components/money/ceilings.ts'
import { Ledger, type LedgerRow } from '../../../components/money/ledger.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { Rewrite, RewriteTotal } from '../../../components/context/last-call.ts'
import { SubtaskCount } from '../../../components/sessions/subtask.ts'
import type { Tier } from '../../protocol/tier.ts'
import { WatchdogLatch, WatchdogState } from '../../../components/agent/watchdog-state.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { ceilingMessage } from '../money/ceiling-decision.ts'
import { type CompactionThreshold, compactionThreshold, lastCallOf } from './compactor.ts'
import { modelTier } from '../config/model-tiers.ts'
import { promptTokensOf } from '../tokens/token-counts.ts'
import { type CostStats, costStats } from '../money/spending.ts'
import { tokenizerName } from '../tokens/tokenizer.ts'
import { unknownInRow } from '../money/ledger-entry.ts'
import { toUsd } from '../money/usd.ts'

/** Why automatic compaction is inactive. `rewritten`: no call since the projection was rewritten. */
export type NotAutomatic = 'off' | 'unknown-window' | 'unknown-usage' | 'no-own-call' | 'rewritten' | 'back-off'

/** An agent's use of one model. */
export interface ModelRow {
  /** `provider/model`. */
  readonly model: string
  readonly calls: number
  /** Input, cache read and cache write. */
  readonly inputTokens: number
  /** Part of `inputTokens`. */
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** Without the calls whose cost is unknown. Absent: that is all of them. */
  readonly costUsd?: number
  /** Calls whose cost is unknown. */
  readonly unknown: number
  /** Those of them that have no price. */
  readonly unpriced: number
}

/** An agent's context management so far. Times are world time in milliseconds. */
export interface ContextStats {
  readonly compactionCount: number
  readonly lastCompactionFocus?: string
  readonly lastCompactionAtMs?: number
  readonly checkpointCount: number
  readonly lastCheckpointNote?: string
  readonly lastCheckpointAtMs?: number
  /** Characters of all summaries and records. */
  readonly totalSummaryChars: number
  /** Those cut at the model's output limit. */
  readonly truncatedSummaries: number
  /** What rewrites of the projection saved and cost. Absent: there was none. */
  readonly rewrites?: {
    readonly count: number
    /** Prompt tokens: the first call after each, compared to the last before it. */
    readonly tokensSaved: number
    readonly cachedTokensLost: number
    readonly costUsd: number
  }
  readonly subtaskCount: number
  readonly subtaskTruncated: number
  /** Prompt tokens. */
  readonly subtaskInputTokens: number
  readonly subtaskOutputTokens: number
  /** Absent: no cost is known. */
  readonly subtaskCostUsd?: number
  /** The cost of some calls is unknown, and missing in that cost. */
  readonly subtaskHasUnpriced?: true
  /** Turns. */
  readonly archive: { readonly archived: number; readonly waiting: number; readonly failed: number }
  readonly window: {
    /** `provider/model`. */
    readonly model?: string
    readonly tier?: Tier
    /** Of the model's context window. */
    readonly tokens?: number
    /** Of the newest own call. */
    readonly promptTokens?: number
    /** Of the window, from 0 on. */
    readonly fullness?: number
    readonly threshold: number
    readonly source: CompactionThreshold['source']
    readonly automatic: boolean
    readonly reason?: NotAutomatic
  }
  readonly cost: CostStats
  /** What has stopped the agent until it is reset. */
  readonly stopped?: { readonly by: 'cost-ceiling' | 'watchdog'; readonly message: string }
  readonly watchdog: { readonly mode: 'off' | 'warn' | 'feedback' | 'enforce'; readonly alerts: number }
  readonly estimator: 'o200k' | 'chars/4'
  /** Dearest first, then by name. */
  readonly models: readonly ModelRow[]
  /** The same, if more than one model was used. */
  readonly modelBreakdown?: readonly ModelRow[]
}

/** An agent's context management so far, and how full its model's window is. Pure; the same after a restore. */
export function contextStats(world: World, agent: Entity): ContextStats {
  const rows = modelRows(world.get(agent, Ledger)?.models ?? {})
  return {
    ...boundaryStats(world, agent),
    ...rewriteStats(world, agent),
    ...subtaskStats(world, agent),
    archive: archiveStats(world, agent),
    window: windowStats(world, agent),
    cost: costStats(world, agent),
    ...stopStats(world, agent),
    watchdog: {
      mode: world.get(agent, Context)?.watchdog.mode ?? 'off',
      alerts: world.get(agent, WatchdogState)?.alerts ?? 0,
    },
    estimator: tokenizerName(),
    models: rows,
    ...(rows.length > 1 && { modelBreakdown: rows }),
  }
}

function boundaryStats(world: World, agent: Entity) {
  const entries = world.get(agent, Boundary) ?? []
  const compactions = entries.filter(({ kind }) => kind === 'summary')
  const checkpoints = entries.filter(({ kind }) => kind === 'checkpoint')
  const { atMs: lastCompactionAtMs, focus: lastCompactionFocus } = compactions.at(-1) ?? {}
  const { atMs: lastCheckpointAtMs, note: lastCheckpointNote } = checkpoints.at(-1) ?? {}
  return {
    compactionCount: compactions.length,
    ...(lastCompactionFocus !== undefined && { lastCompactionFocus }),
    ...(lastCompactionAtMs !== undefined && { lastCompactionAtMs }),
    checkpointCount: checkpoints.length,
    ...(lastCheckpointNote !== undefined && { lastCheckpointNote }),
    ...(lastCheckpointAtMs !== undefined && { lastCheckpointAtMs }),
    totalSummaryChars: entries.reduce((sum, { text }) => sum + text.length, 0),
    truncatedSummaries: entries.filter(({ truncated }) => truncated).length,
  }
}

function rewriteStats(world: World, agent: Entity): Pick<ContextStats, 'rewrites'> {
  const total = world.get(agent, RewriteTotal)
  if (total === undefined) return {}
  const { costNanoUsd, ...counts } = total
  return { rewrites: { ...counts, costUsd: toUsd(costNanoUsd) } }
}

function subtaskStats(world: World, agent: Entity) {
  const count = world.get(agent, SubtaskCount)
  return {
    subtaskCount: count?.ended ?? 0,
    subtaskTruncated: count?.truncated ?? 0,
    subtaskInputTokens: count?.inputTokens ?? 0,
    subtaskOutputTokens: count?.outputTokens ?? 0,
    ...(count?.costNanoUsd !== undefined && {
      subtaskCostUsd: toUsd(count.costNanoUsd),
      ...(count.hasUnpriced === true && { subtaskHasUnpriced: count.hasUnpriced }),
    }),
  }
}

function archiveStats(world: World, agent: Entity): ContextStats['archive'] {
  const entries = world.get(agent, Archive) ?? []
  const archived = entries.filter(({ status }) => status === 'archived').length
  const waiting = world.referrers(ArchiveJob, agent).length
  return { archived, waiting, failed: entries.length - archived }
}

function stopStats(world: World, agent: Entity): Pick<ContextStats, 'stopped'> {
  const ceiling = world.get(agent, CostCeiling)
  if (ceiling !== undefined) return { stopped: { by: 'cost-ceiling', message: ceilingMessage(ceiling) } }
  const dog = world.get(agent, WatchdogLatch)
  return dog === undefined ? {} : { stopped: { by: 'watchdog', message: dog.message } }
}

function windowStats(world: World, agent: Entity): ContextStats['window'] {
  const context = world.get(agent, Context)
  const last = lastCallOf(world, agent)
  const model = last?.model ?? world.get(agent, Llm)?.model
  const tier = model === undefined ? undefined : modelTier(model, context?.tiers)
  const { value: threshold, source } = compactionThreshold({
    tier,
    taskClass: context?.taskClass,
    config: context?.compaction,
  })
  const { contextWindow: tokens = world.get(agent, Rewrite)?.contextWindow, promptTokens } = last ?? {}
  const fullness = tokens === undefined || promptTokens === undefined ? undefined : promptTokens / tokens
  const reason = whyNotAutomatic(world, agent)
  return {
    ...(model !== undefined && { model }),
    ...(tier !== undefined && { tier }),
    ...(tokens !== undefined && { tokens }),
    ...(promptTokens !== undefined && { promptTokens }),
    ...(fullness !== undefined && { fullness }),
    threshold,
    source,
    automatic: reason === undefined,
    ...(reason !== undefined && { reason }),
  }
}

function whyNotAutomatic(world: World, agent: Entity): NotAutomatic | undefined {
  const last = lastCallOf(world, agent)
  if (world.get(agent, Context)?.compaction.enabled !== true) return 'off'
  // A rewrite drops what the last call has read; that there was one is in the ledger.
  if (last === undefined) return world.has(agent, Ledger) ? 'rewritten' : 'no-own-call'
  if (last.contextWindow === undefined) return 'unknown-window'
  if (last.promptTokens === undefined) return 'unknown-usage'
  return (world.get(agent, CompactionState)?.turnsToWait ?? 0) > 0 ? 'back-off' : undefined
}

function modelRows(models: Readonly<Record<string, LedgerRow>>): readonly ModelRow[] {
  const rows = Object.entries(models).map(([model, row]) => modelRow(model, row))
  return rows.toSorted((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0) || (a.model < b.model ? -1 : 1))
}

function modelRow(model: string, row: LedgerRow): ModelRow {
  const { cacheRead = 0, cacheWrite = 0, calls, costNanoUsd, output = 0, unpriced = 0 } = row
  return {
    model,
    calls,
    inputTokens: promptTokensOf({ input: 0, ...row }) ?? 0,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    ...(costNanoUsd !== undefined && { costUsd: toUsd(costNanoUsd) }),
    unknown: unknownInRow(row),
    unpriced,
  }
}
