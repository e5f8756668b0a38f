import { AgentTranscript, TranscriptDue, TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import { Outcome } from '../../../components/effects/outcome.ts'
import { placedMessages } from '../../../src/rules/projection/turn-places.ts'
import { TranscriptOutcome } from '../../../src/rules/delegation/session-outcome.ts'
import type { Entity } from '../../../src/world/component.ts'
import { parsedAs } from '../../../src/world/parsed-as.ts'
import type { World } from '../../../src/world/world.ts'

/** What is to be in an agent's transcript. */
export interface WantedLines {
  /** Messages up to this `seq`. */
  readonly toSeq: number
  /** Behind them: a turn that a holder has. */
  readonly rewrite?: { readonly fromSeq: number; readonly subagentId: string; readonly toSeq: number }
}

/** Are lines on their way to an agent's transcript? Only one write at a time knows where its lines stand. */
export function isWriting(world: World, agent: Entity): boolean {
  return world.isReferred(TranscriptWrite, agent)
}

/** Has an agent's messages up to a `seq` brought to its transcript as soon as nothing else is. */
export function wantLines(world: World, agent: Entity, seq: number): void {
  const wanted = world.get(agent, TranscriptDue)?.seq ?? 0
  if (seq > wanted) world.set(agent, TranscriptDue, { seq })
}

/** Notes on an entity what it is to write, behind what is there. */
export function planWrite(world: World, entity: Entity, agent: Entity, { rewrite, toSeq }: WantedLines): void {
  const { lines: from, seq } = world.get(agent, AgentTranscript) ?? { lines: 0, seq: 0 }
  world.set(entity, TranscriptWrite, {
    afterSeq: seq,
    agent,
    dateMs: world.dateMs,
    from,
    ...(rewrite !== undefined && { rewrite }),
    toSeq: Math.max(seq, toSeq),
    tries: 1,
  })
}

/** Takes note of what was written. */
export function takeWritten(world: World, entity: Entity): void {
  const outcome = world.read(entity, Outcome)
  const { afterSeq, agent, from, toSeq } = world.read(entity, TranscriptWrite)
  const written = outcome.ok ? parsedAs(TranscriptOutcome(), outcome.value) : undefined
  const last = placedMessages(world, agent, afterSeq, toSeq).at(-1)
  const place = last === undefined ? world.get(agent, AgentTranscript)?.place : { step: last.step, turn: last.turn }
  world.set(agent, AgentTranscript, {
    lines: written?.lines ?? from,
    ...(place !== undefined && { place }),
    seq: toSeq,
  })
  world.remove(entity, TranscriptWrite)
}
