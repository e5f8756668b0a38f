import { describe, expect, it } from 'vitest'
import * as components from '../../../components/index.ts'
import { memoryStore, type Store } from '../../../src/index.ts'
import { rawComponents } from '../../../src/inspector/reading/raw-view.ts'
import { type Span, SpanReader } from '../../../src/inspector/reading/spans.ts'
import type { WorldEvent } from '../../../src/world/input.ts'
import { contentOf } from '../../../src/world/journal.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import { Summaries } from '../../../src/inspector/summaries-of.ts'
import { Spans } from '../../../src/inspector/spans-of.ts'
import type { SavedWorld } from '../../../src/engine/recording/recording.ts'
import { deepTeam } from './deep-team.ts'
import { savedRun } from './saved-runs.ts'

const known = rawComponents(Object.values(components))

type Told = WorldEvent & { readonly tick: number }

/** What each tick of a world has taken and said. */
async function contentsOf(store: Store, world: string, root?: string) {
  const stored = await store.read(world, { from: 0, root })
  return stored!.rows.map(({ line, tick }) => ({ ...contentOf(line, ''), tick }))
}

/** All that a world's events say, with their ticks. */
async function eventsOf(store: Store, world: string, root?: string) {
  const contents = await contentsOf(store, world, root)
  return contents.flatMap(({ events, tick }) => events.map((event): Told => ({ ...event, tick })))
}

/** Ticks that took an answer of a person. Where a session has no slot, the event of it comes once it has one. */
async function ticksOfAnswers(store: Store, world: string, root?: string): Promise<readonly number[]> {
  const contents = await contentsOf(store, world, root)
  return contents.flatMap(({ inputs, tick }) => inputs.flatMap(({ kind }) => (kind === 'answer' ? [tick] : [])))
}

async function spansOf(store: Store, world: string, root?: string, from = 0): Promise<readonly Span[]> {
  return SpanReader.of((await store.read(world, { from, root }))!, known).read().spans
}

/** A run of so many worlds, with a thousand ticks each. */
async function manyWorlds(count: number) {
  const [root, first] = (await savedRun({ sessions: 1, steps: 500 })) as readonly [SavedWorld, SavedWorld]
  const copies = Array.from({ length: count - 1 }, (_, index) => ({ ...first, name: `session-${index}` }))
  return new RunSource({ title: 'run', worlds: [root, ...copies] })
}

describe('what worlds do now', () => {
  it('that would take long goes in several replies, those wanted most in the first', async () => {
    const source = await manyWorlds(100)
    const wanted = ['session-9', 'no such world', ...(await source.worlds()).map(({ name }) => name)]
    const told = Object.entries(await new Summaries(source).of(wanted))
    expect(told.map(([name]) => name)).toEqual([...new Set(wanted)].slice(0, told.length))
    expect(told[0]?.[1]).toMatchObject({ tick: expect.any(Number) as number })
    expect(told.length).toBeLessThan(99)
  })
})

describe('the bars of a world', () => {
  it('begin and end in the ticks in which its events say so', async () => {
    const store = memoryStore()
    const team = await deepTeam({ store, calls: 3 })
    team.runner.on(
      'approval-requested',
      ({ approval }) => void team.runner.post({ kind: 'answer', approval, approved: true }),
    )
    await answerFirst(team.runner.world.name)
    await team.runner.idle()
    const root = team.runner.world.name
    for (const { name } of await store.list({ root })) {
      const own = name === root ? undefined : root
      const events = await eventsOf(store, name, own)
      const spans = await spansOf(store, name, own)
      const ticksOf = (type: string) => events.filter((event) => event.type === type).map(({ tick }) => tick)
      const models = spans.filter(({ kind }) => kind === 'model')
      expect(models.map(({ tick }) => tick)).toEqual(ticksOf('model-called'))
      expect(models.map(({ endTick }) => endTick)).toEqual(ticksOf('model-replied'))
      const approvals = spans.filter(({ kind }) => kind === 'approval')
      expect(approvals.map(({ tick }) => tick)).toEqual(ticksOf('approval-requested'))
      expect(approvals.map(({ endTick }) => endTick)).toEqual(await ticksOfAnswers(store, name, own))
      expect(ticksOf('approval-answered')).toHaveLength(approvals.length)
      const sessions = spans.filter(({ kind }) => kind === 'session')
      expect(sessions.map(({ tick }) => tick)).toEqual(ticksOf('delegation-started'))
      expect(sessions.map(({ endTick }) => endTick)).toEqual(ticksOf('session-ended'))
      expect(spans.filter(({ toMs }) => toMs === undefined)).toEqual([])
    }
    await team.runner.stop()

    async function answerFirst(rootName: string): Promise<void> {
      for (const { name } of await store.list({ root: rootName })) {
        const events = await eventsOf(store, name, name === rootName ? undefined : rootName)
        for (const event of events) {
          if (event.type === 'approval-requested')
            await team.runner.post({ kind: 'answer', approval: event['approval'] as string, approved: true })
        }
      }
    }
  })

  it('that would take long go in several replies, those wanted most in the first', async () => {
    const source = await manyWorlds(100)
    const wanted = ['session-9', 'no such world', ...(await source.worlds()).map(({ name }) => name)]
    const { spans } = await new Spans(source).of(wanted.map((world) => ({ world })))
    const told = Object.keys(spans)
    expect(told).toEqual([...new Set(wanted)].slice(0, told.length))
    expect(told.length).toBeGreaterThan(0)
    expect(told.length).toBeLessThan(99)
  })

  it('of a long run are read from its newest ticks, and then from what is new', async () => {
    const [, first] = (await savedRun({ sessions: 1, steps: 100 })) as readonly [SavedWorld, SavedWorld]
    let read = 0
    const source = new (class extends RunSource {
      override async rows(world: string, after: number, to?: number) {
        const rows = await super.rows(world, after, to)
        read += rows?.length ?? 0
        return rows
      }
    })({ title: 'run', worlds: [first] })
    const spans = new Spans(source)
    const [known] = Object.values((await spans.of([{ world: first.name }])).spans)
    expect(known).toMatchObject({ tick: first.rows.at(-1)?.tick })
    expect(read).toBe(0)
    await spans.of([{ world: first.name, after: first.rows.at(-1)?.tick }])
    expect(read).toBe(0)
  })

  it('that are open in the tick behind which the reading begins are known, with an unknown beginning', async () => {
    const store = memoryStore()
    const team = await deepTeam({ store })
    const root = team.runner.world.name
    const builder = (await store.list({ root })).find(({ name }) => name !== root && team.runner.host.driven.has(name))
    const names = [...team.runner.host.driven.keys()]
    const deepest = names.at(-1) as string
    const { world } = team.runner.host.driven.get(deepest)!
    expect(builder).toBeDefined()
    const whole = (await spansOf(store, deepest, root)).find(({ kind }) => kind === 'approval')
    expect(whole).toMatchObject({ name: 'may deploy run?' })
    expect(whole?.toMs).toBeUndefined()
    const { RawWorld } = await import('../../../src/world/raw-world.ts')
    const late = new SpanReader(RawWorld.restore(world.snapshot(), known)).read()
    expect(late.spans).toEqual([expect.objectContaining({ id: whole?.id, kind: 'approval', isOlder: true })])
    expect(late.path).toHaveLength(3)
    await team.runner.stop()
  })
})
