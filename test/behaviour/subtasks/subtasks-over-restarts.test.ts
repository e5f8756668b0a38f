import {
  Conversation,
  memoryStore,
  recordingOf,
  replay,
  type ScriptedBehaviour,
  standardSystems,
  type Store,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { Ledger, Subtask, SubtaskAccount, SubtaskCount, Unread } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { stores } from '../sessions/kinds-of-stores.ts'
import { behaving, driven, mortal, rejection, reopened, turns, worldWith } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { type CommittedTick, mortalStore, watchedStore } from '../stores/watched-store.ts'

const usage = { input: 100, output: 10 }

/** The lead has a wrapper called, whose subtask reads three times and then has its digest. */
const reading: ScriptedBehaviour = ({ messages, model }) => {
  if (model === 'tiny') return messages.length < 7 ? { toolCalls: [{ name: 'read_file' }] } : 'A digest.'
  const isAsked = messages.at(-1)?.role === 'user'
  return isAsked ? { toolCalls: [{ name: 'agentic_research', arguments: { request: 'What?' } }] } : 'Done.'
}

interface Office {
  /** What the tools were called for, over all processes. */
  readonly reads: string[]
  readonly agent: number
  readonly world: World
  readonly options: Parameters<typeof driven>[1] & { readonly tools: readonly ReturnType<typeof tool>[] }
  /** Lengths of the requests that the subtask's model was asked with. */
  readonly asked: () => number[]
}

function office(whenRead: (count: number) => void = () => undefined, restart: 'pure' | 'once' = 'pure'): Office {
  const reads: string[] = []
  const readFile = tool(
    'read_file',
    async ({ key, sleep }) => {
      reads.push(key)
      whenRead(reads.length)
      await sleep(100)
      return 'text'
    },
    { restart },
  )
  const tools = [readFile, tool('grep_files', () => ''), tool('list_files', () => '')]
  const { models, requests } = behaving(reading, { usage })
  const config = { context: { agentic: { small_model: 'scripted/tiny' } } }
  const made = worldWith({ tools, config })
  const asked = () => requests.filter(({ model }) => model === 'tiny').map(({ messages }) => messages.length)
  return { ...made, reads, options: { models, tools }, asked }
}

function digests(world: World, agent: number): unknown[] {
  const results = world.read(agent, Conversation).filter(({ role }) => role === 'tool')
  return results.map((message) => JSON.parse(textOf(message)) as unknown)
}

async function names(store: Store): Promise<string[]> {
  return (await store.list()).map(({ name }) => name)
}

describe.each(stores)('subtasks in a %s', (_, open) => {
  it('go on from where they were when the process was killed', async () => {
    const kept = await open()
    const { store, die } = mortalStore(kept)
    const second = Promise.withResolvers<void>()
    const { world, agent, options, asked, reads } = office((count) => (count === 2 ? second.resolve() : undefined))
    const first = mortal(world, { ...options, store })
    await first.runner.start()
    await second.promise
    die()
    await turns()
    const again = await reopened(kept, options)
    expect(again.world.query(Subtask)).toHaveLength(1)
    await again.runner.start()
    await again.runner.idle()
    expect(digests(again.world, agent)).toEqual([{ digest: 'A digest.', truncated: false, steps_used: 4 }])
    // The second read was cut short; no call of the model was made again.
    expect(asked()).toEqual([1, 3, 5, 7])
    expect(reads).toHaveLength(4)
    expect(again.world.get(agent, Ledger)?.models['scripted/tiny']).toMatchObject({ calls: 4, input: 400 })
    expect(await names(kept)).toEqual(['world'])
  })

  it('hear the answer of a person whom they asked before', async () => {
    const store = await open()
    const { models } = behaving(({ messages }) => (messages.length === 1 ? { toolCalls: [{ name: 'ask' }] } : 'Fine.'))
    const runs: string[] = []
    const tools = [tool('ask', ({ key }) => void runs.push(key), { approval: true })]
    const { world, agent } = worldWith({ tools, messages: [] })
    const options = { models, tools, store, approve: 'by-input' as const }
    const first = driven(world, { ...options, clock: new VirtualClock({ auto: false }) })
    await first.runner.start()
    const requested = first.next('approval-requested')
    const asked = { name: 'a', systemPrompt: 'Ask.', userMessage: 'Go.', tools: ['ask'] }
    const lost = rejection(first.runner.runSubtask(agent, asked))
    const { approval } = await requested
    await first.runner.stop()
    expect(await lost).toMatchObject({ code: 'world-driven' })
    const again = await reopened(store, { ...options, clock: new VirtualClock({ auto: false }) })
    await again.runner.start()
    // Its World may not be driven yet.
    const ended = again.next('subtask-ended')
    await again.runner.post({ kind: 'answer', approval, approved: true })
    expect(await ended).toMatchObject({ result: { digest: 'Fine.' } })
    expect(runs).toHaveLength(1)
  })

  it('have no more time for it', async () => {
    const store = await open()
    const second = Promise.withResolvers<void>()
    const { agent, options, world } = office((count) => (count === 2 ? second.resolve() : undefined))
    world.remove(agent, Unread)
    const first = driven(world, { ...options, store })
    await first.runner.start()
    const asked = { name: 'a', systemPrompt: 'Read.', userMessage: 'Go.', tools: ['read_file'], model: 'scripted/tiny' }
    // A read takes 100 ms.
    const lost = rejection(first.runner.runSubtask(agent, { ...asked, timeoutMs: 150 }))
    await second.promise
    await first.runner.stop()
    await lost
    const again = await reopened(store, options)
    const ended = again.next('subtask-ended')
    await again.runner.start()
    expect(await ended).toMatchObject({ result: { durationMs: 150, failure: { kind: 'timed-out' } } })
  })

  it('are not forgotten before what they have come to is written', async () => {
    const kept = await open()
    const isEnd = ({ inputs }: CommittedTick): boolean =>
      inputs.some((input) => input.kind === 'outcome' && JSON.stringify(input).includes('subtaskId'))
    const before = (ticks: readonly CommittedTick[]): void => {
      if (ticks.some(isEnd)) throw new Error('The disk is full.')
    }
    const { world, agent, options, asked } = office()
    const first = mortal(world, { ...options, store: watchedStore(kept, { before }) })
    await first.runner.start()
    expect(await rejection(first.runner.idle())).toMatchObject({ code: 'store-failed' })
    await first.runner.stop()
    const again = await reopened(kept, options)
    await again.runner.start()
    await again.runner.idle()
    expect(digests(again.world, agent)).toMatchObject([{ digest: 'A digest.' }])
    expect(asked()).toEqual([1, 3, 5, 7])
  })

  it('go on where a Runner was stopped', async () => {
    const store = await open()
    const second = Promise.withResolvers<void>()
    const { world, agent, options, asked } = office((count) => (count === 2 ? second.resolve() : undefined))
    const first = driven(world, { ...options, store })
    await first.runner.start()
    await second.promise
    await first.runner.stop()
    expect(await names(store)).toEqual(['world', `world/${agent}:sub:agentic_research:1`])
    const again = await reopened(store, options)
    await again.runner.start()
    await again.runner.idle()
    expect(digests(again.world, agent)).toMatchObject([{ digest: 'A digest.', steps_used: 4 }])
    expect(asked()).toEqual([1, 3, 5, 7])
  })

  it('leave nothing behind in it, whether they end or are called off', async () => {
    const store = await open()
    const first = Promise.withResolvers<void>()
    const { world, agent, options } = office((count) => (count === 1 ? first.resolve() : undefined))
    const { runner } = driven(world, { ...options, store })
    await runner.start()
    await first.promise
    await runner.cancel(agent)
    await runner.idle()
    await turns()
    expect(await names(store)).toEqual(['world'])
    expect(world.get(agent, SubtaskCount)).toMatchObject({ ended: 1, inputTokens: 100 })
    await runner.message(agent, 'Once more.')
    await runner.idle()
    const results = world.read(agent, Conversation).filter(({ role }) => role === 'tool')
    expect(results.map((message) => textOf(message))).toEqual([
      '[cancelled by the user]',
      expect.stringContaining('A digest.'),
    ])
    await turns()
    expect(await names(store)).toEqual(['world'])
    expect(world.query(SubtaskAccount)).toEqual([])
  })

  it('tell what they had spent after a process has died that had called them off', async () => {
    const kept = await open()
    const { store: dying, die } = mortalStore(kept)
    const isCancel = ({ inputs }: CommittedTick): boolean => inputs.some(({ kind }) => kind === 'cancel')
    // It dies as soon as the cancel is written.
    const after = (ticks: readonly CommittedTick[]): void => {
      if (ticks.some((tick) => isCancel(tick) && tick.delta.set?.['LastTurn']?.[0]?.[0] === agent)) die()
    }
    const store = watchedStore(dying, { after })
    const second = Promise.withResolvers<void>()
    const { world, agent, options } = office((count) => (count === 2 ? second.resolve() : undefined))
    const first = mortal(world, { ...options, store })
    await first.runner.start()
    await second.promise
    void first.runner.cancel(agent)
    await turns()
    const again = await reopened(kept, options)
    expect(again.world.query(Subtask)).toEqual([])
    expect(again.world.query(SubtaskAccount)).toHaveLength(1)
    expect(again.world.get(agent, SubtaskCount)).toMatchObject({ ended: 0 })
    await again.runner.start()
    await again.runner.idle()
    expect(again.world.get(agent, SubtaskCount)).toMatchObject({ ended: 1, inputTokens: 200 })
    expect(again.world.query(SubtaskAccount)).toEqual([])
    await turns()
    expect(await names(kept)).toEqual(['world'])
  })
})

describe('subtasks that are recorded', () => {
  it('are kept, and replayed as they were', async () => {
    const store = memoryStore()
    const { world, agent, options } = office()
    const { runner } = driven(world, { ...options, store, record: true })
    await runner.start()
    await runner.idle()
    await runner.stop()
    const all = await names(store)
    expect(all).toEqual(['world', `world/${agent}:sub:agentic_research:1`])
    for (const name of all) {
      const { difference } = replay(await recordingOf(store, name), { systems: standardSystems(), components })
      expect(difference).toBeUndefined()
    }
  })
})

describe('a subtask that was running in a world that no store kept', () => {
  async function saved(restart: 'pure' | 'once') {
    const second = Promise.withResolvers<void>()
    const made = office((count) => (count === 2 ? second.resolve() : undefined), restart)
    const { runner } = driven(made.world, made.options)
    await runner.start()
    await second.promise
    const copy = World.restore(made.world.snapshot(), { systems: standardSystems(), components })
    await runner.stop()
    const again = driven(copy, made.options)
    await again.runner.start()
    await again.runner.idle()
    return { ...made, world: copy }
  }

  it('begins anew', async () => {
    const { world, agent, asked } = await saved('pure')
    expect(digests(world, agent)).toEqual([{ digest: 'A digest.', truncated: false, steps_used: 4 }])
    expect(asked()).toEqual([1, 3, 1, 3, 5, 7])
  })

  it('is not run again if it may call what runs but once', async () => {
    const { world, agent, asked } = await saved('once')
    const results = world.read(agent, Conversation).filter(({ role }) => role === 'tool')
    expect(results.map((message) => textOf(message))).toEqual([expect.stringContaining('may have happened')])
    expect(asked()).toEqual([1, 3])
  })
})
