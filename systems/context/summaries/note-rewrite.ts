import { Boundary } from '../../../components/context/boundary.ts'
import { CompactionPending } from '../../../components/context/compaction-state.ts'
import { Context } from '../../../components/context/context.ts'
import { LastCall, Rewrite, RewriteTotal } from '../../../components/context/last-call.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { Prefix } from '../../../components/agent/prefix.ts'
import type { RewriteKind } from '../../../src/protocol/context.ts'
import { UncountedCalls } from '../../../components/money/token-factors.ts'
import { lastCallOf } from '../../../src/rules/context/compactor.ts'
import { added } from '../../../src/rules/tokens/token-counts.ts'
import { toUsd } from '../../../src/rules/money/usd.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import type { z } from 'zod'
import { emit } from '../../kit.ts'

/** A rewrite of an agent's projection. */
export interface Rewritten {
  readonly kind: RewriteKind
  /** Of the calls that wrote the new text. Absent: no price is known. */
  readonly costNanoUsd?: number | undefined
  /** Messages removed from the conversation, all before what calls in flight answer. @default 0 */
  readonly removed?: number
  /** `seq` of the last changed message; what a boundary covers is not projected. @default behind all */
  readonly toSeq?: number
}

/**
 * Records that an agent's projection was rewritten: the token count of its last call is outdated and must not trigger a
 * compaction. The first own call that starts from here on shows what the rewrite saved.
 */
export function noteRewrite(world: World, agent: Entity, rewritten: Rewritten): void {
  const { kind, costNanoUsd, removed = 0, toSeq = Infinity } = rewritten
  for (const call of world.referrers(OwnedBy, agent)) {
    if (!world.has(call, ModelCall)) continue
    const { messages } = world.read(call, ModelCall)
    world.patch(call, ModelCall, { isOutdated: true, messages: messages - removed })
  }
  const last = lastCallOf(world, agent)
  for (const token of [CompactionPending, LastCall, UncountedCalls]) world.remove(agent, token)
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  if (!world.has(agent, Context) || toSeq <= covered) return
  // Several rewrites before the next call count as one.
  const before = world.get(agent, Rewrite)
  world.set(agent, Rewrite, {
    cachedTokensLost: before === undefined ? world.get(agent, Prefix)?.cached : before.cachedTokensLost,
    contextWindow: before?.contextWindow ?? last?.contextWindow,
    costNanoUsd: added(before?.costNanoUsd, costNanoUsd),
    kind,
    tokensBefore: before?.tokensBefore ?? last?.promptTokens,
  })
}

/** Emits the rewrites whose effect the agents' newest calls have shown. */
export function emitRewrites(world: World): void {
  for (const agent of world.query(Rewrite, LastCall)) {
    const { cachedTokensLost, costNanoUsd, kind, tokensBefore } = world.read(agent, Rewrite)
    const tokensAfter = lastCallOf(world, agent)?.promptTokens
    const costUsd = costNanoUsd === undefined ? undefined : toUsd(costNanoUsd)
    world.remove(agent, Rewrite)
    emit(world, 'context-rewritten', { agent, kind, tokensBefore, tokensAfter, cachedTokensLost, costUsd })
    const isMeasured = tokensBefore !== undefined && tokensAfter !== undefined
    addUp(world, agent, {
      cachedTokensLost: cachedTokensLost ?? 0,
      costNanoUsd: costNanoUsd ?? 0,
      tokensSaved: isMeasured ? tokensBefore - tokensAfter : 0,
    })
  }
}

function addUp(world: World, agent: Entity, more: Omit<z.infer<typeof RewriteTotal.schema>, 'count'>): void {
  const before = world.get(agent, RewriteTotal)
  world.set(agent, RewriteTotal, {
    cachedTokensLost: (before?.cachedTokensLost ?? 0) + more.cachedTokensLost,
    costNanoUsd: (before?.costNanoUsd ?? 0) + more.costNanoUsd,
    count: (before?.count ?? 0) + 1,
    tokensSaved: (before?.tokensSaved ?? 0) + more.tokensSaved,
  })
}
