import { Conversation, type Entity, memoryStore, type Message, textOf, type VirtualClock, type World } from 'entia'
import { SubagentSession } from 'entia/components'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { cuttingStore, type Place, places } from './cutting-store.ts'
import { expectValid } from './expect-valid.ts'
import { name, type Outside, startRunner } from './delegating-team.ts'
import { eventsIn, type KeptEvent, worldsIn } from './kept-worlds.ts'

const minuteMs = 60_000

interface Ended {
  readonly worlds: readonly World[]
  readonly events: readonly KeptEvent[]
  readonly outside: Outside
  /** Effects of the class `once` that were running when the process died. */
  readonly interrupted: number
}

/** Runs to the end without any accident. */
async function undisturbed(): Promise<Ended & { readonly commits: number }> {
  const outside = { sent: [], heard: new Set<string>() }
  const inner = memoryStore()
  const { store, commits } = cuttingStore(inner, Infinity, 'after the commit', () => Promise.resolve())
  const { runner } = await startRunner(store, outside)
  await runner.start()
  await runner.idle()
  await runner.stop()
  const events = await eventsIn(inner, name)
  return { worlds: await worldsIn(inner, name), events, outside, interrupted: 0, commits: commits() }
}

/** Runs, dies at one commit of any world, is restored from what is in the store, and runs to the end. */
async function cut(at: number, place: Place): Promise<Ended> {
  const outside = { sent: [], heard: new Set<string>() }
  const inner = memoryStore()
  const clocks: VirtualClock[] = []
  const settleEffects = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) {
      for (const clock of clocks) clock.advance(1_000)
      for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
    }
  }
  const dying = cuttingStore(inner, at, place, settleEffects)
  const first = await startRunner(dying.store, outside)
  clocks.push(first.clock)
  // A process that dies while it starts never gets to the end of its start.
  void first.runner.start().then(() => first.runner.idle().then(dying.kill))
  await dying.dead
  const interrupted = (await worldsIn(inner, name)).flatMap(runningOnce).length
  const { runner } = await startRunner(inner, outside)
  await runner.start()
  await runner.idle()
  await runner.stop()
  return { worlds: await worldsIn(inner, name), events: await eventsIn(inner, name), outside, interrupted }
}

function runningOnce(world: World): readonly Entity[] {
  const running = world.query(components.Running)
  return running.filter((effect) => world.read(effect, components.Effect).restart === 'once')
}

function conversations(worlds: readonly World[]): readonly (readonly Message[])[] {
  return worlds.flatMap((world) =>
    world.query(Conversation).map((entity) => [...world.read(entity, Conversation)] as Message[]),
  )
}

function sessions(worlds: readonly World[]) {
  return worlds.flatMap((world) => world.query(SubagentSession).map((one) => world.read(one, SubagentSession)))
}

function statuses({ worlds }: Ended): readonly string[] {
  return sessions(worlds).map(({ prompt, status }) => `${prompt}: ${status}`)
}

/** How often something is there, for each. */
function counts(of: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const one of of) found[one] = (found[one] ?? 0) + 1
  return found
}

/** Ids of sessions that agents were told of, as often as they were. */
function toldOf(worlds: readonly World[]): readonly string[] {
  const notes = conversations(worlds).flatMap((messages) => messages.filter(({ role }) => role === 'system'))
  return notes.flatMap((message) => textOf(message).match(/^- session-\w+/gm) ?? []).map((line) => line.slice(2))
}

function eachOnce(ids: readonly string[]): Record<string, number> {
  return Object.fromEntries(ids.map((id) => [id, 1]))
}

function hashes(worlds: readonly World[]): readonly string[] {
  return worlds.map((world) => world.hash({ stable: true }))
}

describe('a run of a lead with sessions in the background, one that it waits for, and some below them, on one slot', async () => {
  const golden = await undisturbed()

  const ids = sessions(golden.worlds).map(({ sessionId }) => sessionId)
  const background = sessions(golden.worlds).filter(({ mode }) => mode === 'background')

  it('ends well', () => {
    expect(golden.commits).toBeGreaterThanOrEqual(40)
    expect(statuses(golden)).toEqual([
      'alpha: failed',
      'beta: succeeded',
      'epsilon: succeeded',
      'gamma: succeeded',
      'delta, and write: succeeded',
    ])
    expectSound(golden)
    const [lead] = conversations(golden.worlds)
    expect(textOf(lead?.at(-1))).toBe('The end.')
    const texts = lead?.map((message) => textOf(message)) ?? []
    for (const read of ['"error":"boom"', '"inline_content":"Dug."']) {
      expect(texts.filter((text) => text.includes(read))).toHaveLength(1)
    }
  })

  it('gives the same hashes every time', async () => {
    expect(hashes((await undisturbed()).worlds)).toEqual(hashes(golden.worlds))
  })

  /** What holds of every run, whatever happened to it. */
  function expectSound({ worlds, events, outside, interrupted }: Ended, where = 'undisturbed'): void {
    expect(new Set(outside.sent).size, `${where}: what was sent, was sent once`).toBe(outside.sent.length)
    const messages = conversations(worlds)
    for (const conversation of messages) expectValid(conversation)
    for (const type of ['delegation-started', 'delegation-completed', 'session-ended']) {
      const of = events.flatMap((event) => (event.type === type ? [event.sessionId ?? ''] : []))
      expect(counts(of), `${where}: ${type} once for each session`).toEqual(eachOnce(ids))
    }
    expect(counts(toldOf(worlds)), `${where}: each notified once`).toEqual(
      eachOnce(background.map(({ sessionId }) => sessionId)),
    )
    const unheard = events
      .filter((event) => !outside.heard.has(event.place))
      .map(({ type, place }) => `${type} ${place}`)
    expect(unheard, `${where}: nothing is told to nobody`).toEqual([])
    const results = messages.flat().filter((message) => message.role === 'tool')
    const found = results.filter((message) => textOf(message).includes('[interrupted]'))
    expect(found, `${where}: one interrupted result for each once effect that was running`).toHaveLength(interrupted)
  }

  describe.each(places)('that is cut off %s', (place) => {
    it(
      'ends, whatever the tick of whatever world, with the same hashes, and nothing happens twice',
      async () => {
        let seenRunning = 0
        for (let at = 1; at <= golden.commits + 1; at++) {
          const where = `cut ${place} ${at}`
          const ended = await cut(at, place)
          expectSound(ended, where)
          expect(statuses(ended), where).toEqual(statuses(golden))
          seenRunning += ended.interrupted
          if (ended.interrupted > 0) continue
          expect(hashes(ended.worlds), where).toEqual(hashes(golden.worlds))
          expect(ended.outside.sent.length, where).toBe(golden.outside.sent.length)
        }
        expect(seenRunning, 'some of the cuts hit a once effect').toBeGreaterThan(0)
      },
      minuteMs,
    )
  })
})
