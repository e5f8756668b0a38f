import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { law, simulate } from '../../src/sim/index.ts'
import { timelinePage } from '../../src/sim/timeline-page.ts'
import { readTrace } from '../../src/sim/timeline/read-trace.ts'
import type { TraceEntry } from '../../src/sim/trace-entry.ts'
import { allFaults, busyTeam } from './busy-team.ts'

function at(atMs: number, type: string, facts: TraceEntry['facts'], label = 'team'): TraceEntry {
  return { atMs, label, tick: 1, type, facts }
}

/** Bars as text: `team model 0-9 well: lead, step 1`. */
function barsOf(entries: readonly TraceEntry[], endMs = 0): string[] {
  const { rows, spans } = readTrace(entries, endMs)
  return spans.map(({ row, kind, fromMs, toMs, state, title }) => {
    return `${rows[row]?.name} ${kind} ${fromMs}-${toMs} ${state}: ${title}`
  })
}

const asked = [
  at(0, 'turn-started', { agent: 1 }),
  at(0, 'model-called', { agent: 1, effect: 2, step: 1, messages: 1 }),
  at(0, 'model-began', { effect: 2, name: 'lead', attempt: 1 }),
]

describe('a timeline', () => {
  it('has a bar for every try, and for the pause between them', () => {
    const failure = { kind: 'overloaded', message: 'Too much.' }
    const bars = barsOf([
      ...asked,
      at(5, 'retry-scheduled', { agent: 1, effect: 2, attempt: 2, atMs: 9, failure }),
      at(9, 'model-began', { effect: 2, name: 'lead', attempt: 2 }),
      at(12, 'model-replied', { agent: 1, effect: 2, stop: 'end', usage: {} }),
      at(12, 'turn-ended', { agent: 1, stop: 'done', steps: 1, toolCalls: 0 }),
    ])
    expect(bars).toEqual([
      'team turn 0-12 well: turn',
      'team model 0-5 failed: lead, step 1',
      'team retry 5-9 well: step 1 pauses before try 2',
      'team model 9-12 well: lead, step 1',
    ])
  })

  it('shows what a crash has cost, and what began once more', () => {
    const bars = barsOf([
      ...asked,
      at(4, 'crashed', { why: 'crash.beforeCommit' }, '-'),
      at(4, 'model-began', { effect: 2, name: 'lead', attempt: 1 }),
      at(7, 'turn-ended', { agent: 1, stop: 'cancelled', steps: 1, toolCalls: 0 }),
    ])
    expect(bars.slice(1)).toEqual(['team model 0-4 lost: lead, step 1', 'team model 4-7 cancelled: lead, step 1'])
  })

  it('shows sessions below their parent: in line, at work, and how they ended', () => {
    const { rows, spans } = readTrace(
      [
        at(0, 'session-queued', { agent: 1, sessionId: 'b', sequence: 2 }),
        at(0, 'session-queued', { agent: 1, sessionId: 'a', sequence: 1 }),
        at(3, 'delegation-started', { parent: 1, sessionId: 'a', category: 'scout', task: 'look' }),
        at(3, 'session-queued', { agent: 1, sessionId: 'c', sequence: 1 }, 'team/1.1'),
        at(8, 'session-ended', { agent: 1, sessionId: 'a', lifecycleStatus: 'succeeded' }),
      ],
      10,
    )
    expect(rows.map(({ name, depth, note, status }) => [name, depth, note, status])).toEqual([
      ['team', 0, '', ''],
      ['1.2', 1, '', ''],
      ['1.1', 1, 'scout: look', 'succeeded'],
      ['1.1', 2, '', ''],
    ])
    expect(spans.map(({ row, kind, fromMs, toMs, state }) => [row, kind, fromMs, toMs, state])).toEqual([
      [1, 'queued', 0, 10, 'open'],
      [2, 'queued', 0, 3, 'well'],
      [3, 'queued', 3, 10, 'open'],
    ])
  })

  it('shows where an agent only waits, and calls at the same time one above the other', () => {
    const { rows, spans } = readTrace(
      [
        at(0, 'turn-started', { agent: 1 }),
        ...[3, 4].flatMap((effect) => [
          at(2, 'tool-called', { agent: 1, effect, callId: `${effect}`, tool: 'look' }),
          at(2, 'tool-began', { effect, name: 'look', attempt: 1 }),
        ]),
        at(5, 'tool-answered', { agent: 1, callId: '3', tool: 'look', isError: false }),
        at(6, 'tool-answered', { agent: 1, callId: '4', tool: 'look', isError: true }),
        at(9, 'turn-ended', { agent: 1, stop: 'done', steps: 1, toolCalls: 2 }),
      ],
      9,
    )
    expect(rows.map(({ lanes }) => lanes)).toEqual([2])
    expect(spans.map(({ kind, fromMs, toMs, lane, state }) => [kind, fromMs, toMs, lane, state])).toEqual([
      ['turn', 0, 9, 0, 'well'],
      ['tool', 2, 5, 0, 'well'],
      ['tool', 2, 6, 1, 'failed'],
      ['waiting', 0, 2, 0, 'well'],
      ['waiting', 6, 9, 0, 'well'],
    ])
  })

  it('marks faults where they strike, crashes everywhere, and what users do', () => {
    const { rows, marks } = readTrace(
      [
        ...asked,
        at(1, 'fault', { what: 'model.hang', at: 'team model 1' }, '-'),
        at(2, 'fault', { what: 'crash.beforeCommit', at: 'store commit 3' }, '-'),
        at(2, 'crashed', { why: 'crash.beforeCommit' }, '-'),
        at(3, 'user-acted', { user: 'ann', kind: 'message', agent: 1, text: 'Well?' }, '-'),
        at(4, 'law-broken', { law: 'quiet', message: 'It was loud.' }),
      ],
      4,
    )
    expect(marks.map(({ row, kind, title }) => [row === undefined ? 'all' : rows[row]?.name, kind, title])).toEqual([
      ['team', 'fault', 'model.hang'],
      ['Process', 'fault', 'crash.beforeCommit'],
      ['all', 'crash', 'the process dies, and restarts'],
      ['Users', 'user', 'ann: Well?'],
      ['team', 'law', 'law broken: quiet'],
    ])
  })
})

/** The elements of a page that are closed in another order than they were opened, or not at all. */
function unclosed(page: string): string[] {
  const open: string[] = []
  const text = page.replaceAll(/<(script|style)\b([^>]*)>[^]*?<\/\1>/g, '').replace('<!doctype html>', '')
  for (const [, end, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s+[a-z-]+(?:="[^"<]*")?)*>/g)) {
    if (end === '') open.push(...(['meta', 'input'].includes(name) ? [] : [name]))
    else if (open.pop() !== name) return [`</${name}>`]
  }
  return open
}

describe('the page of a run', () => {
  it('is well formed, and needs nothing but itself', async () => {
    for (const seed of [1, 2, 3]) {
      const page = timelinePage(await simulate({ ...busyTeam(), seed, faults: allFaults }))
      expect(unclosed(page)).toEqual([])
      expect(page).not.toMatch(/https?:|\b(?:src|href)=|@import|url\(/)
      expect(page).toContain("default-src 'none'")
      const [, script = ''] = /<script>\n([^]*?)<\/script>/.exec(page) ?? []
      expect(() => new Script(script)).not.toThrow()
    }
  })

  it('holds every bar and every event of the run as data', async () => {
    const result = await simulate({ ...busyTeam(), seed: 3, faults: allFaults })
    const [, json = ''] = /<script type="application\/json" id="run">([^]*?)<\/script>/.exec(timelinePage(result)) ?? []
    const data = JSON.parse(json) as { readonly events: readonly unknown[]; readonly spans: readonly unknown[] }
    expect(data.events).toHaveLength(result.trace.length)
    expect(data.spans).toHaveLength(readTrace(result.trace.entries, result.virtualMs).spans.length)
    const { seed, hash } = result
    for (const text of [`seed ${seed}`, 'Every law held', hash]) expect(timelinePage(result)).toContain(text)
  })

  it('shows what was said as text, whatever stands in it', async () => {
    const bad = '</script><script>alert(1)</script><img src=x onerror=alert(1)>&"\''
    const loud = law(`never ${bad}`, ({ world }) => world.tick < 2 || bad)
    const page = timelinePage(await simulate({ ...busyTeam(), seed: 1, laws: [loud] }))
    expect(page).toContain('A law was broken')
    expect(page).toContain('never &lt;/script&gt;&lt;script&gt;')
    expect(page).not.toMatch(/<img|alert\(1\)<\/script>/)
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(unclosed(page)).toEqual([])
  })
})
