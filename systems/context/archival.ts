import { ArchiveJob, EndedTurn } from '../../components/context/archive.ts'
import { Effect } from '../../components/effects/effect.ts'
import { AskedAgain, DraftOf, HolderDraft, Seed } from '../../components/context/holder.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { wantLines } from './transcripts.ts'
import { Ancestry, SessionEnd } from '../../components/sessions/ancestry.ts'
import { Archival, type ArchivalData } from '../../components/context/archival.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { CostCeiling } from '../../components/money/ceilings.ts'
import { Llm } from '../../components/agent/llm.ts'
import type { Message } from '../../src/protocol/message.ts'
import { TokenFactors } from '../../components/money/token-factors.ts'
import { archivalDecision, callsIn } from '../../src/rules/context/archival-decision.ts'
import { isAtLeast, mostTokensOf } from '../../src/rules/tokens/estimate-tokens.ts'
import { holderTask } from '../../src/rules/context/archival-summary.ts'
import { countUpTo } from '../../src/rules/projection/places.ts'
import { factorOf, greatestFactor } from '../../src/rules/tokens/request-tokens.ts'
import { beginEffect, emit } from '../kit.ts'
import { countCalls } from '../money/count-calls.ts'
import { Delegated } from '../../components/sessions/delegation-limits.ts'
import type { Stop } from '../../src/protocol/failure.ts'
import { SideCall } from '../../components/effects/model-call.ts'

/**
 * Judges each ended turn once and opens a job for each that a holder should keep; removes leftovers of holders whose
 * jobs are gone.
 * Writes: ArchiveJob, HolderDraft, TranscriptDue. Starts: holder, holder-removal.
 */
export const archival = {
  name: 'archival',
  priority: 11,
  wakes: [EndedTurn, HolderDraft],
  run(world: World): void {
    for (const ended of world.query(EndedTurn)) {
      const { agent, toSeq } = world.read(ended, EndedTurn)
      // A holder's transcript has the questions it is asked, with its answers, behind the turn it holds.
      if (world.has(agent, Seed)) wantLines(world, agent, toSeq)
      judgeTurn(world, ended)
      world.despawn(ended)
    }
    for (const draft of world.query(HolderDraft, not(DraftOf), not(Effect))) {
      world.patch(draft, HolderDraft, { tries: 1 })
      beginEffect(world, draft, { kind: 'holder-removal', restart: 'keyed' })
    }
  },
}

/** Skip reasons that are not emitted. */
const silent: ReadonlySet<string> = new Set(['disabled', 'empty', 'below_thresholds'])

function judgeTurn(world: World, ended: Entity): void {
  const { agent, fromSeq, stop, toSeq } = world.read(ended, EndedTurn)
  const config = world.get(agent, Archival)
  if (config === undefined || !world.has(agent, Llm)) return
  const messages = world
    .read(agent, Conversation)
    .slice(countUpTo(world, agent, fromSeq - 1), countUpTo(world, agent, toSeq))
  const { archive, reason } = archivalDecision({
    config,
    depth: world.get(agent, Ancestry)?.sessions.length ?? 0,
    stop,
    sessionOver: hasEndedSession(world, agent),
    latched: world.has(agent, CostCeiling),
    messages,
    estimate: (tokens) => isHeavy(world, agent, messages, tokens),
  })
  if (archive) openJob(world, { agent, fromSeq, reason, task: holderTask(messages[0]), toSeq })
  else if (!silent.has(reason)) emit(world, 'archive-skipped', { agent, reason })
}

/** Have the messages at least so many tokens? Mostly their size says no, and nothing is counted. */
function isHeavy(world: World, agent: Entity, messages: readonly Message[], tokens: number): boolean {
  if (mostTokensIn(messages) * greatestFactor < tokens) return false
  countCalls(world, agent)
  const { model } = world.read(agent, Llm)
  return isAtLeast(messages, { factor: factorOf(model, world.get(agent, TokenFactors)?.models[model]), tokens })
}

/** A turn that answers a question to an ended session did not end it. */
function hasEndedSession(world: World, agent: Entity): boolean {
  return world.has(agent, SessionEnd) && !world.has(agent, Seed) && !world.has(agent, AskedAgain)
}

type Turn = Pick<Parameters<typeof ArchiveJob>[0], 'agent' | 'fromSeq' | 'reason' | 'task' | 'toSeq'>

function openJob(world: World, turn: Turn): void {
  const { retry: _, ...llm } = world.read(turn.agent, Llm)
  const subagentId = world.newId('session')
  const job = world.spawn()
  world.set(job, ArchiveJob, {
    ...turn,
    dateMs: world.dateMs,
    llm,
    step: 'holder',
    subagentId,
    summaryBy: world.read(turn.agent, Archival).summary,
    tries: 1,
  })
  world.spawn(HolderDraft({ sessionId: subagentId, tries: 0 }), DraftOf({ job }))
  beginEffect(world, job, { kind: 'holder', restart: 'keyed' })
}

/** May an ending turn have to be archived or reported? A light one that ends well, as most are, needs no entity. */
export function isWorthJudging(
  world: World,
  agent: Entity,
  { fromSeq, stop }: { readonly fromSeq: number; readonly stop: Stop },
): boolean {
  const config = world.get(agent, Archival)
  if (config === undefined) return false
  if (stop !== 'done' || config.trigger.depthCap === 0 || mayChange(world, agent)) return true
  return config.enabled && mayBeHeavy(world, agent, config, fromSeq)
}

/** What decides may still change: the session may end, or work in flight may reach a ceiling. */
function mayChange(world: World, agent: Entity): boolean {
  if (world.has(agent, Ancestry) || world.has(agent, CostCeiling) || world.has(agent, Delegated)) return true
  return world.isReferred(ArchiveJob, agent) || world.isReferred(SideCall, agent)
}

/** Depends on the messages alone, not on which were counted before: what is written must be the same in a replay. */
function mostTokensIn(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + mostTokensOf(message), 0)
}

function mayBeHeavy(world: World, agent: Entity, { trigger }: ArchivalData, fromSeq: number): boolean {
  const { tokenThreshold, toolCallThreshold } = trigger
  const from = Math.max(0, countUpTo(world, agent, fromSeq) - 1)
  const messages = (world.get(agent, Conversation) ?? []).slice(from)
  if (toolCallThreshold !== null && callsIn(messages) >= toolCallThreshold) return true
  return tokenThreshold !== null && mostTokensIn(messages) * greatestFactor >= tokenThreshold
}
