import { ArchiveJob } from '../../../components/context/archive-job.ts'
import { TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import type { TurnSummary } from '../../../components/context/archive-job.ts'
import type { Failure } from '../../../src/protocol/failure.ts'
import { DraftOf, HolderDraft } from '../../../components/context/holder.ts'
import { Outcome } from '../../../components/effects/outcome.ts'
import { HolderFailure } from '../../../src/rules/delegation/session-outcome.ts'
import type { Entity } from '../../../src/world/component.ts'
import { parsedAs } from '../../../src/world/parsed-as.ts'
import type { World } from '../../../src/world/world.ts'
import { beginEffect, tryWriteAgain } from '../../kit/begin-effect.ts'
import { takeWritten } from '../transcripts/write-lines.ts'
import { collapse } from './collapse.ts'
import { failJob } from './end-job.ts'
import { askForSummary, endSummary, withoutReply } from './write-summary.ts'

/** Takes a job on whose step's effect is settled. */
export function moveJob(world: World, job: Entity): void {
  const { step } = world.read(job, ArchiveJob)
  if (step === 'summary') return takeSummary(world, job, withoutReply(world, job))
  const problem = problemOf(world, job)
  if (problem !== undefined) return tryAgain(world, job, problem)
  switch (step) {
    case 'holder':
      world.patch(job, ArchiveJob, { step: 'entries', tries: 1 })
      return beginEffect(world, job, { kind: 'transcript', restart: 'keyed' })
    case 'entries': {
      for (const draft of world.referrers(DraftOf, job)) world.patch(draft, HolderDraft, { isWritten: true })
      world.patch(job, ArchiveJob, { step: 'summary', tries: 1 })
      const summary = askForSummary(world, job)
      return summary && takeSummary(world, job, summary)
    }
    case 'lines': {
      takeWritten(world, job)
      const { summary } = world.read(job, ArchiveJob)
      return summary && collapse(world, job, summary)
    }
  }
}

/** Has the lines written of a turn that has its summary, as soon as nothing else is written to the agent's transcript. */
export function takeSummary(world: World, job: Entity, summary: TurnSummary): void {
  endSummary(world, job)
  world.patch(job, ArchiveJob, { step: 'lines', summary, tries: 1 })
}

type Problem = { readonly phase: 'spawn' | 'seed' | 'disk'; readonly failure: Failure }

function problemOf(world: World, job: Entity): Problem | undefined {
  const outcome = world.read(job, Outcome)
  const isHolder = world.read(job, ArchiveJob).step === 'holder'
  if (!outcome.ok) return { phase: isHolder ? 'spawn' : 'disk', failure: outcome.failure }
  return isHolder ? parsedAs(HolderFailure(), outcome.value) : undefined
}

function tryAgain(world: World, job: Entity, { phase, failure }: Problem): void {
  const { tries } = world.read(job, ArchiveJob)
  if (tryWriteAgain(world, job, tries)) return world.patch(job, ArchiveJob, { tries: tries + 1 })
  world.remove(job, TranscriptWrite)
  failJob(world, job, phase, failure)
}
