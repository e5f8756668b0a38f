import { memoryStore, type ModelRequest, type Store, SubagentRegistry, textOf } from 'entia'
import { type Config, configured, readConfig } from 'entia/context'
import { Boundary } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { stores } from '../sessions/kinds-of-stores.ts'
import type { Behaviour } from '../sessions/team.ts'
import { type Archiving, archiving, type ArchivingOptions, callsInTurn, lastUser, looking } from './archiving.ts'
import { reopened } from '../turns/driving.ts'

interface Recalled {
  readonly seq: number
  readonly role: string
  readonly text: string
}

/** `recall <words>` searches; all else is heavy work. */
const work: Behaviour = (request, context) => {
  const [, query] = /^recall (.*)$/.exec(lastUser(request)) ?? []
  if (query === undefined) return looking(5)(request, context)
  return callsInTurn(request) === 0 ? { toolCalls: [{ id: 'r', name: 'recall', arguments: { query } }] } : 'Recalled.'
}

async function started(options: ArchivingOptions = {}): Promise<Archiving> {
  const made = archiving({ work, ...options })
  await made.runner.start()
  return made
}

async function recall(made: Archiving, query: string): Promise<string> {
  await made.say(`recall ${query}`)
  const asked: ModelRequest | undefined = made.asked('work').at(-1)?.request
  return textOf([...(asked?.messages ?? [])].findLast(({ role }) => role === 'tool'))
}

const found = (text: string): readonly Recalled[] => JSON.parse(text) as readonly Recalled[]

describe('what an agent no longer sees', () => {
  it.each(stores)('of its archived turns is found by its words, with its place (%s)', async (_, open) => {
    const made = await started({ runner: { store: await open() } })
    await made.say('apple')
    await made.say('pear')
    expect(found(await recall(made, 'apple'))).toEqual([{ seq: 12, role: 'assistant', text: 'Did: apple' }])
    const places = found(await recall(made, 'place 3'))
    expect(places[0]).toMatchObject({ role: expect.stringMatching(/assistant|tool/) as string })
    expect(places.map(({ text }) => text)).toContain('[tool_result: Seen: place 3]')
    expect(new Set(places.map(({ seq }) => seq)).size).toBe(places.length)
  })

  it('is found without a store too, and in a world that came back', async () => {
    const made = await started()
    await made.say('apple')
    expect(found(await recall(made, 'APPLE'))).toHaveLength(1)

    const store = memoryStore()
    const kept = await started({ runner: { store } })
    await kept.say('apple')
    await kept.runner.stop()
    const again = await reopened(store, kept.options)
    await again.runner.start()
    await again.runner.message(kept.agent, 'recall apple')
    await again.runner.idle()
    expect(
      textOf([...(kept.asked('work').at(-1)?.request.messages ?? [])].findLast(({ role }) => role === 'tool')),
    ).toContain('Did: apple')
  })

  it('is not what it still sees: the opening messages, and later turns', async () => {
    const made = await started({
      work: (request, context) => (lastUser(request) === 'light plum' ? 'Plum.' : work(request, context)),
    })
    await made.say('heavy plum')
    await made.say('light plum')
    await made.say('heavy again')
    const texts = found(await recall(made, 'plum')).map(({ text }) => text)
    expect(texts).toEqual(['Did: heavy plum'])
  })

  it('is given at most ten messages at a time, each cut', async () => {
    const made = await started({
      work: (request, context) => {
        if (lastUser(request).startsWith('recall')) return work(request, context)
        return callsInTurn(request) < 12
          ? {
              toolCalls: [
                { id: `c${request.messages.length}`, name: 'look', arguments: { at: `plum ${'x'.repeat(2_000)}` } },
              ],
            }
          : 'Done.'
      },
    })
    await made.say('Go')
    const messages = found(await recall(made, 'plum'))
    expect(messages).toHaveLength(10)
    for (const { text } of messages) expect(text.length).toBeLessThanOrEqual(1_000)
  })

  it('may be nothing, and a query without words is none', async () => {
    const made = await started()
    await made.say('apple')
    expect(await recall(made, 'unheard')).toBe('No earlier message has a word of the query.')
    expect(await recall(made, '  ')).toBe(
      "Error: Invalid arguments for 'recall': query: expected a text that is not empty",
    )
  })

  /** A boundary behind the first turn. */
  async function fold(made: Archiving): Promise<void> {
    await made.runner.change((world) =>
      world.append(made.agent, Boundary, {
        atMs: 0,
        by: 'manual',
        kind: 'summary',
        missingHeadings: [],
        seq: 12,
        text: 'It was done.',
        truncated: false,
        usage: {},
      }),
    )
    await made.runner.idle()
  }

  it('of what a fork begins with is found by the fork, as it stands there', async () => {
    const answers: string[] = []
    const made = await started({
      archival: false,
      parts: [...configured(readConfig({})), SubagentRegistry({ subagents: {} })],
      work: (request, context) => {
        if (!lastUser(request).includes('Directive: ')) return work(request, context)
        const last = [...request.messages].at(-1)
        if (last?.role === 'tool') answers.push(textOf(last))
        return last?.role === 'tool' ? 'Found.' : { toolCalls: [{ name: 'recall', arguments: { query: 'apple' } }] }
      },
    })
    await made.say('apple')
    await fold(made)
    await made.say('pear')
    await made.runner.subagents(made.agent).fork('Look for it.')
    await made.runner.idle()
    expect(found(answers[0] ?? '').map(({ seq, role }) => [seq, role])).toEqual(
      expect.arrayContaining([
        [1, 'user'],
        [12, 'assistant'],
      ]),
    )
  })

  it('of what no disk has had room for is found all the same, and once', async () => {
    const inner = memoryStore()
    let isFull = true
    const store: Store = {
      ...inner,
      appendTranscript: async (...given) => {
        if (isFull) throw new Error('The disk is full.')
        return inner.appendTranscript(...given)
      },
    }
    const made = await started({ archival: false, parts: configured(readConfig({})), runner: { store } })
    await made.say('apple')
    await fold(made)
    expect(made.told('warning')[0]?.message).toContain('The disk is full.')
    const seqs = async (): Promise<number[]> => {
      const messages = found(await recall(made, 'apple'))
      return messages.map(({ seq }) => seq).toSorted((a, b) => a - b)
    }
    expect(await seqs()).toEqual([1, 12])
    isFull = false
    await fold(made)
    expect(await seqs()).toEqual([1, 12])
  })

  it('is kept and found where nothing but a task that is done folds it', async () => {
    const store = memoryStore()
    const config = readConfig({ context: { compaction: { enabled: false } } })
    const made = await started({ archival: false, parts: configured(config), runner: { store } })
    await made.say('apple')
    await fold(made)
    expect(found(await recall(made, 'apple'))).toHaveLength(2)
    expect(await store.transcript('world', `agents/agent-${made.agent}/sessions/world.jsonl`)).toHaveLength(1 + 12)
  })

  it('is kept where nothing folds it but a program, and nobody can search it', async () => {
    const store = memoryStore()
    const config = readConfig({ context: { compaction: { enabled: false }, checkpoint: { enabled: false } } })
    const made = await started({ archival: false, parts: configured(config), runner: { store } })
    await made.say('apple')
    expect(made.asked('work')[0]?.request.tools.map(({ name }) => name)).not.toContain('recall')
    await fold(made)
    expect(await store.transcript('world', `agents/agent-${made.agent}/sessions/world.jsonl`)).toHaveLength(1 + 12)
  })

  it('of what a boundary covers is found as well', async () => {
    const config: Config = readConfig({})
    const made = await started({ archival: false, parts: configured(config) })
    await made.say('apple')
    const names = made.asked('work')[0]?.request.tools.map(({ name }) => name)
    expect(names).toContain('recall')
    expect(names).not.toContain('query_subagent')
    expect(await recall(made, 'apple')).toBe('No earlier message has a word of the query.')
    await fold(made)
    expect(found(await recall(made, 'apple')).map(({ seq, role }) => [seq, role])).toEqual(
      expect.arrayContaining([
        [1, 'user'],
        [12, 'assistant'],
      ]),
    )
  })
})
