import { Conversation, type Entity, Limits, Llm, type Message, textOf, user, type World } from 'entia'
import {
  Archival,
  Archive,
  ArchiveJob,
  Boundary,
  CompactionPending,
  CostCeiling,
  DraftOf,
  Due,
  Effect,
  EndedTurn,
  HolderDraft,
  LastCall,
  ModelCall,
  Outcome,
  OwnedBy,
  Pending,
  SideCall,
  SubagentSession,
  TranscriptWrite,
  UncountedCalls,
} from 'entia/components'
import { estimateTokens } from 'entia/context'
import { archival, archiveJobs, transcripts } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { seqAt } from '../../../src/rules/projection/places.ts'
import { model, saying, settleWith, tickAt, told, worldOf } from '../one-tick.ts'

const summary = JSON.stringify({
  outcome: 'Done.',
  key_findings: [],
  files_touched: [],
  tools_used: [],
  open_questions: [],
})

/** An agent of so many turns of three messages, each of one token or more. */
function talker(world: World, turns: number): Entity {
  const messages = Array.from({ length: turns }, (_, index): Message[] => [
    user(`Turn ${index}`),
    saying('On the way.'),
    saying('Done.'),
  ])
  return world.spawn(
    Llm({ model }),
    Conversation(messages.flat()),
    Archival({ enabled: true, trigger: { tokenThreshold: 1 } }),
  )
}

function endTurn(world: World, agent: Entity, turn: number, stop: 'done' | 'cancelled' = 'done'): void {
  world.spawn(EndedTurn({ agent, fromSeq: turn * 3 + 1, stop, toSeq: turn * 3 + 3 }))
}

const all = () => worldOf(archiveJobs, archival, transcripts)

/** Lets what is under way for a job come out well, until the turn has collapsed. */
function archiveTurn(world: World, job: Entity, nowMs = 0): void {
  for (let step = 0; step < 9 && world.exists(job); step++) {
    const [call] = world.query(SideCall)
    const [write = job] = world.query(TranscriptWrite)
    const isWriting = world.has(write, TranscriptWrite)
    if (call !== undefined)
      settleWith(world, call, { ok: true, value: { message: saying(summary), stop: 'end', usage: {} } })
    else settleWith(world, write, { ok: true, value: isWriting ? { lines: 9 } : null })
    tickAt(world, nowMs)
  }
}

describe('archival', () => {
  it('looks at a turn once, in the tick in which it ends, and opens a job whose first effect makes the holder', () => {
    const world = all()
    const agent = talker(world, 1)
    endTurn(world, agent, 0)
    tickAt(world, 5)
    expect(world.query(EndedTurn)).toEqual([])
    const [job = 0] = world.query(ArchiveJob)
    expect(world.read(job, ArchiveJob)).toMatchObject({
      agent,
      fromSeq: 1,
      step: 'holder',
      task: 'Archive: Turn 0',
      toSeq: 3,
    })
    expect(world.read(job, Effect)).toMatchObject({ kind: 'holder', restart: 'keyed' })
    expect(world.query(HolderDraft, DraftOf)).toHaveLength(1)
    expect(world.read(agent, Conversation)).toHaveLength(3)
    tickAt(world, 6)
    expect(world.query(ArchiveJob)).toEqual([job])
  })

  it('leaves a turn that did not finish, and says so', () => {
    const world = all()
    const agent = talker(world, 1)
    endTurn(world, agent, 0, 'cancelled')
    expect(told(tickAt(world, 0))).toEqual(['archive-skipped'])
    expect(world.query(ArchiveJob)).toEqual([])
  })

  it('takes the tokens of arguments into account, and none that are not there', () => {
    const world = all()
    const agent = talker(world, 1)
    world.patch(agent, Archival, { trigger: { ...world.read(agent, Archival).trigger, tokenThreshold: 10_000 } })
    endTurn(world, agent, 0)
    expect(told(tickAt(world, 0))).toEqual([])
    const heavy: Message = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'a', name: 'write', arguments: { text: 'word '.repeat(12_000) } }],
    }
    const result: Message = { role: 'tool', callId: 'a', name: 'write', content: [{ type: 'text', text: 'ok' }] }
    world.rewrite(agent, Conversation, [user('Turn 0'), heavy, result])
    endTurn(world, agent, 0)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    expect(world.read(job, ArchiveJob).reason).toBe('tokens')
  })
})

describe('archive jobs', () => {
  it('collapses a turn in one tick: the placeholder has the seq of its last message, and later ones keep theirs', () => {
    const world = all()
    const agent = talker(world, 3)
    endTurn(world, agent, 1)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    const { subagentId } = world.read(job, ArchiveJob)
    archiveTurn(world, job)
    const messages = world.read(agent, Conversation)
    expect(messages).toHaveLength(8)
    expect(textOf(messages[4])).toBe(`[archived turn]\nsubagent_id: ${subagentId}\n\n${summary}`)
    expect(messages.map((_, index) => seqAt(world, agent, index))).toEqual([1, 2, 3, 4, 6, 7, 8, 9])
    expect(world.read(agent, Archive)).toMatchObject([{ fromSeq: 4, status: 'archived', subagentId, toSeq: 6 }])
    expect(world.query(HolderDraft)).toEqual([])
    expect(world.query(SubagentSession)).toHaveLength(1)
  })

  it('lets several turns wait at once, and collapses them in any order', () => {
    const world = all()
    const agent = talker(world, 3)
    for (const turn of [0, 1, 2]) endTurn(world, agent, turn)
    tickAt(world, 0)
    const jobs = world.query(ArchiveJob)
    for (const job of jobs.toReversed()) {
      const { toSeq } = world.read(job, ArchiveJob)
      // Only one of them is asked about at a time here.
      archiveTurn(world, job)
      expect(world.exists(job), `the turn up to ${toSeq}`).toBe(false)
    }
    expect(world.read(agent, Conversation).map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    ])
    expect(world.read(agent, Archive).map(({ toSeq }) => toSeq)).toEqual([9, 6, 3])
  })

  it('writes one job’s lines at a time to an agent’s transcript', () => {
    const world = all()
    const agent = talker(world, 2)
    for (const turn of [0, 1]) endTurn(world, agent, turn)
    tickAt(world, 0)
    const jobs = world.query(ArchiveJob)
    const done = { dateMs: 0, status: 'ok' as const, text: 'Done.', truncated: false, usage: {} }
    for (const job of jobs) {
      for (const token of [Effect, Pending]) world.remove(job, token)
      world.patch(job, ArchiveJob, { step: 'lines', summary: done })
    }
    tickAt(world, 0)
    expect(world.query(TranscriptWrite)).toEqual([jobs[0]])
    settleWith(world, jobs[0] ?? 0, { ok: true, value: { lines: 5 } })
    tickAt(world, 0)
    expect(world.query(TranscriptWrite)).toEqual([jobs[1]])
    expect(world.read(jobs[1] ?? 0, TranscriptWrite)).toMatchObject({ afterSeq: 3, from: 5, toSeq: 6 })
  })

  it('tries what was not written again after a while, and gives the turn up after the third time', () => {
    const world = all()
    const agent = talker(world, 1)
    endTurn(world, agent, 0)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    const failure = { kind: 'store-failed' as const, message: 'full' }
    for (const waitMs of [50, 500]) {
      settleWith(world, job, { ok: false, failure })
      tickAt(world, 1_000)
      expect(world.read(job, Due).atMs).toBe(1_000 + waitMs)
      world.remove(job, Due)
      world.add(job, Pending)
    }
    settleWith(world, job, { ok: false, failure })
    expect(told(tickAt(world, 2_000))).toEqual(['archive-failed'])
    expect(world.exists(job)).toBe(false)
    const [draft = 0] = world.query(HolderDraft)
    expect(world.read(draft, Effect).kind).toBe('holder-removal')
    expect(world.read(agent, Archive)).toMatchObject([{ failure, phase: 'spawn', status: 'failed' }])
    expect(world.read(agent, Conversation)).toHaveLength(3)
  })

  it('makes what a call in flight has read, and a compaction that is due, a matter of the past', () => {
    const world = all()
    const agent = talker(world, 2)
    endTurn(world, agent, 0)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    world.add(agent, LastCall({ model, promptTokens: 9 }))
    world.add(agent, CompactionPending)
    const call = world.spawn(ModelCall({ messages: 6 }), OwnedBy({ agent }))
    archiveTurn(world, job)
    expect(world.read(call, ModelCall)).toEqual({ isOutdated: true, messages: 5 })
    expect(world.has(agent, LastCall)).toBe(false)
    expect(world.has(agent, CompactionPending)).toBe(false)
  })

  it('changes nothing that is projected of a turn that a boundary covers', () => {
    const world = all()
    const agent = talker(world, 2)
    const boundary = {
      atMs: 0,
      by: 'auto' as const,
      kind: 'summary' as const,
      missingHeadings: [],
      seq: 3,
      text: 'So far.',
      truncated: false,
      usage: {},
    }
    world.add(agent, Boundary([boundary]))
    endTurn(world, agent, 0)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    const behind = world.read(agent, Conversation).slice(3)
    archiveTurn(world, job)
    expect(world.read(agent, Conversation).slice(2)).toEqual(behind)
  })

  it('asks for no summary under a ceiling that has tripped, and archives all the same', () => {
    const world = all()
    const agent = talker(world, 1)
    endTurn(world, agent, 0)
    tickAt(world, 0)
    world.add(agent, CostCeiling({ atMs: 0, bound: 'turn', limitUsd: 1, spentUsd: 2 }))
    const [job = 0] = world.query(ArchiveJob)
    for (let step = 0; step < 2; step++) {
      settleWith(world, job, { ok: true, value: null })
      tickAt(world, 0)
    }
    expect(world.query(SideCall)).toEqual([])
    expect(world.read(job, ArchiveJob)).toMatchObject({ step: 'lines', summary: { status: 'unavailable' } })
    expect(world.has(agent, Limits)).toBe(false)
  })

  it('drops a reply that comes when the time is up', () => {
    const world = all()
    const agent = talker(world, 1)
    endTurn(world, agent, 0)
    tickAt(world, 0)
    const [job = 0] = world.query(ArchiveJob)
    for (let step = 0; step < 2; step++) {
      settleWith(world, job, { ok: true, value: null })
      tickAt(world, 0)
    }
    expect(world.read(job, Effect)).toMatchObject({ deadlineMs: 60_000, kind: 'timer' })
    settleWith(world, job, { ok: false, failure: { kind: 'timed-out', message: 'late' } })
    tickAt(world, 60_000)
    expect(world.query(SideCall)).toEqual([])
    expect(world.read(job, ArchiveJob).summary).toMatchObject({ status: 'unavailable', text: '[summary unavailable]' })
    expect(world.has(job, Outcome)).toBe(false)
  })
})

describe('whether a turn is heavy', () => {
  it('leaves the same world whether or not the process has counted its messages before', () => {
    const text = 'lighthouse keepers '.repeat(12)
    const worldAfter = (isCounted: boolean): string => {
      const world = all()
      const messages = [user(text), saying(text), saying('Done.')]
      const agent = world.spawn(
        Llm({ model }),
        Conversation(messages),
        Archival({ enabled: true, trigger: { tokenThreshold: 1_000 } }),
        UncountedCalls([{ messages: 1, model, promptTokens: 40 }]),
      )
      if (isCounted) estimateTokens([...world.read(agent, Conversation)], { factor: 1 })
      endTurn(world, agent, 0)
      tickAt(world, 0)
      return world.hash()
    }
    expect(worldAfter(true)).toBe(worldAfter(false))
  })
})
