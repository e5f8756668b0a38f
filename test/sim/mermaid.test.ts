import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/sim/index.ts'
import { mermaidChart } from '../../src/sim/mermaid.ts'
import type { TraceEntry } from '../../src/sim/trace-entry.ts'
import { allFaults, busyTeam } from './busy-team.ts'

/** A line of a chart: an arrow between declared participants with a text, or a note over one or two of them. */
const line = /^ {2}(?:(?:actor|participant) p\d+ as .+|p\d+(?:->>|-->>|--x)p\d+: .+|Note over p\d+(?:,p\d+)?: .+)$/

function entry(type: string, facts: TraceEntry['facts'], label = 'team'): TraceEntry {
  return { atMs: 0, label, tick: 1, type, facts }
}

/** Texts that stand in a chart, without its ids. */
function textsOf(chart: string): string[] {
  return chart.split('\n').map((each) => each.replace(/^.*?: /, ''))
}

describe('a chart of a run', () => {
  it('declares users, worlds, models and tools in this order, and then tells who asks whom', () => {
    const chart = mermaidChart([
      entry('turn-started', { agent: 1 }),
      entry('model-called', { agent: 1, effect: 2, step: 1, messages: 1 }),
      entry('model-began', { effect: 2, name: 'lead', attempt: 1 }),
      entry('fault', { what: 'model.overloaded', at: 'team model 1' }, '-'),
      entry('retry-scheduled', {
        agent: 1,
        effect: 2,
        attempt: 2,
        atMs: 9,
        failure: { kind: 'overloaded', message: '' },
      }),
      entry('crashed', { why: 'crash.afterCommit' }, '-'),
      entry('model-began', { effect: 2, name: 'lead', attempt: 2 }),
      entry('model-replied', { agent: 1, effect: 2, stop: 'tool-calls', usage: {} }),
      entry('tool-called', { agent: 1, effect: 3, callId: 'a', tool: 'look' }),
      entry('tool-began', { effect: 3, name: 'look', attempt: 1 }),
      entry('session-queued', { agent: 1, session: 4, sessionId: 's', sequence: 1, correlationId: 'c' }),
      entry('tool-answered', { agent: 1, callId: 'a', tool: 'look', isError: true }),
      entry('delegation-started', { parent: 1, sessionId: 's', task: 'dig' }),
      entry('session-ended', { agent: 1, session: 4, sessionId: 's', lifecycleStatus: 'succeeded' }),
      entry('approval-requested', { agent: 1, approval: 'x', tool: 'buy' }),
      entry('approval-answered', { agent: 1, approval: 'x', tool: 'buy', approved: false }),
      entry('law-broken', { law: 'quiet', message: 'It was loud.' }),
    ])
    expect(chart.split('\n')).toEqual([
      'sequenceDiagram',
      '  actor p0 as Users',
      '  participant p1 as team',
      '  participant p2 as team/1.1',
      '  participant p3 as model lead',
      '  participant p4 as tool look',
      '  p0->>p1: begins a turn',
      '  p1->>p3: step 1',
      '  Note over p1: fault model.overloaded at team model 1',
      '  p3--xp1: overloaded, try 2 comes later',
      '  Note over p0,p4: the process dies (crash.afterCommit) and restarts',
      '  p1->>p3: step 1, try 2',
      '  p3-->>p1: tool-calls',
      '  p1->>p4: call',
      '  p1->>p2: launches a session',
      '  p4--xp1: error',
      '  Note over p2: begins: dig',
      '  p2-->>p1: succeeded',
      '  p1->>p0: may I use buy?',
      '  p0-->>p1: no: buy',
      '  Note over p0,p4: LAW BROKEN: quiet. It was loud.',
    ])
  })

  it('has nothing in its texts that means something to Mermaid', () => {
    const said = 'end; %%{init}%% <b>#1</b>\n  p0->>p1: "x" `\\` \u2028'
    const chart = mermaidChart([entry('user-acted', { user: 'ann', kind: 'message', agent: 1, text: said }, '-')])
    const last = chart.split('\n').at(-1) ?? ''
    expect(last).toMatch(/^ {2}p0->>p1: ann: end#59; /)
    expect(last.replaceAll(/#\d+;/g, '')).not.toMatch(/[#;%<"`\\\n\u2028]/)
    expect(chart.split('\n')).toHaveLength(4)
  })

  it('tells agents of one world apart', () => {
    const chart = mermaidChart([entry('turn-started', { agent: 1 }), entry('turn-started', { agent: 2 })])
    expect(chart).toContain('p1 as team agent 1\n')
    expect(chart).toContain('p2 as team agent 2\n')
  })

  it('of a long run shows its beginning and its end, and how much is left out', () => {
    const entries = Array.from({ length: 1_000 }, (_, index) => {
      return entry('user-acted', { user: `p${index}`, kind: 'message', agent: 1, text: 'x' }, '-')
    })
    const texts = textsOf(mermaidChart(entries))
    expect(texts).toHaveLength(3 + 301)
    expect(texts.slice(3).slice(199, 202)).toEqual(['p199: x', '700 lines are left out here', 'p900: x'])
    expect(texts.at(-1)).toBe('p999: x')
  })

  it('of a run in which nothing happened is a chart, too', () => {
    expect(mermaidChart([])).toBe('sequenceDiagram\n  actor p0 as Users')
  })

  it('is well formed under faults of every kind', async () => {
    for (const seed of [1, 2, 3]) {
      const { trace } = await simulate({ ...busyTeam(), seed, faults: allFaults, laws: [] })
      const [head, ...lines] = trace.toMermaid().split('\n')
      expect(head).toBe('sequenceDiagram')
      expect(lines.filter((each) => !line.test(each))).toEqual([])
      const declared = new Set(lines.flatMap((each) => /^ {2}(?:actor|participant) (p\d+)/.exec(each)?.[1] ?? []))
      const used = lines.flatMap(
        (each) => /^ {2}(?:Note over )?(p\d+)\b(?:(?:->>|-->>|--x|,)(p\d+))?/.exec(each)?.slice(1) ?? [],
      )
      expect(used.filter((id) => id !== undefined && !declared.has(id))).toEqual([])
    }
  })

  it('cannot be drawn of lines that were told and not kept', async () => {
    const { trace } = await simulate({ ...busyTeam(), seed: 1, laws: [], onTrace: () => undefined })
    expect(() => trace.toMermaid()).toThrow('Leave out onTrace')
  })
})
