import { memoryStore, Runner, sqliteStore, type Store, VirtualClock } from 'entia'
import { ArchiveJob, HolderDraft } from 'entia/components'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { archiving, validSummary } from './archiving.ts'

/** A store of which some calls fail. */
function failing(
  inner: Store,
  fails: { readonly [K in keyof Store]?: (...given: Parameters<Store[K]>) => boolean },
): Store {
  const refuse = <K extends keyof Store>(name: K, ...given: Parameters<Store[K]>): void => {
    if (fails[name]?.(...given) === true) throw new Error(`${name} failed`)
  }
  return {
    ...inner,
    open: async (...given) => {
      refuse('open', ...given)
      return inner.open(...given)
    },
    appendTranscript: async (...given) => {
      refuse('appendTranscript', ...given)
      return inner.appendTranscript(...given)
    },
    delete: async (...given) => {
      refuse('delete', ...given)
      return inner.delete(...given)
    },
    deleteTranscript: async (...given) => {
      refuse('deleteTranscript', ...given)
      return inner.deleteTranscript(...given)
    },
  }
}

const sqlite = async (maxSizeBytes?: number) => {
  const folder = await tempFolder()
  const store = sqliteStore({ folder, maxSizeBytes, synchronous: 'normal' })
  onTestFinished(() => store.close())
  return { folder, store }
}

describe('a turn whose archiving fails', () => {
  it('because the holder cannot be made stays whole, and the next is judged afresh', async () => {
    const inner = memoryStore()
    let left = 3
    const store = failing(inner, { open: (name) => name.startsWith('session-') && left-- > 0 })
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ phase: 'spawn', status: 'failed', failure: { kind: 'store-failed' } }])
    await expectNothingLeft(made, inner, 'spawn')
    await made.say('second')
    expect(made.archive().map(({ status }) => status)).toEqual(['failed', 'archived'])
    expect(made.messages()).toHaveLength(12 + 2)
  })

  it('because its history cannot be written stays whole too', async () => {
    const inner = memoryStore()
    let left = 3
    const store: Store = {
      ...inner,
      open: async (name, options) => {
        const journal = await inner.open(name, options)
        if (!name.startsWith('session-')) return journal
        return {
          name,
          load: () => journal.load(),
          recording: () => journal.recording(),
          close: () => journal.close(),
          commit: (batch) => (left-- > 0 ? Promise.reject(new Error('disk full')) : journal.commit(batch)),
        }
      },
    }
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ phase: 'seed', status: 'failed' }])
    await expectNothingLeft(made, inner, 'seed')
    await made.say('second')
    expect(made.archive()[1]).toMatchObject({ status: 'archived' })
  })

  it('once and then not is archived all the same', async () => {
    let left = 2
    const store = failing(memoryStore(), { appendTranscript: () => left-- > 0 })
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ status: 'archived' }])
    expect(made.world.nowMs).toBe(550)
  })

  it.each([
    ['disk', 1_200_000],
    ['seed', 800_000],
  ])('because the disk is full stays whole, and leaves no holder and no folder (%s)', async (phase, maxSizeBytes) => {
    const { folder, store } = await sqlite(maxSizeBytes)
    const made = archiving({ runner: { store } })
    await made.runner.start()
    // So many words that the index of the transcript is what has no room any more, or the holder's World.
    const words = Array.from({ length: 30_000 }, (_, index) => (Math.imul(index, 2_654_435_761) >>> 0).toString(36))
    await made.say(words.join(' '))
    expect(made.archive()).toMatchObject([{ phase, status: 'failed', failure: { kind: 'store-failed' } }])
    expect(made.archive()[0]?.failure?.message).toContain('disk is full')
    await expectNothingLeft(made, store, phase)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => file.includes('agents'))).toEqual([])
  })

  it('because a file lies where the folder of transcripts is to be stays whole, and nothing is said to be left', async () => {
    const folder = await tempFolder({ transcripts: 'mine' })
    const store = sqliteStore({ folder, synchronous: 'normal', transcripts: join(folder, 'transcripts') })
    onTestFinished(() => store.close())
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ phase: 'disk', status: 'failed', failure: { kind: 'store-failed' } }])
    expect(made.archive()[0]?.failure?.message).toContain('not a directory')
    await expectNothingLeft(made, store, 'disk')
  })

  it('at its last lines stays whole, though the summary is there', async () => {
    const inner = memoryStore()
    const store = failing(inner, { appendTranscript: (_, key) => key.startsWith('agents/agent-') })
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ phase: 'disk', status: 'failed' }])
    expect(made.messages()).toHaveLength(12)
    expect((await inner.list()).map(({ name }) => name)).toEqual(['world'])
    expect(made.asked('summary')).toHaveLength(1)
  })

  it('because another run has a transcript under its id leaves that as it is', async () => {
    const folder = await tempFolder()
    const transcripts = join(folder, 'transcripts')
    const open = (name: string): Store => {
      const store = sqliteStore({ folder: join(folder, name), synchronous: 'normal', transcripts })
      onTestFinished(() => store.close())
      return store
    }
    // With a seed, ids are the same in each run.
    const first = archiving({ seed: 7, runner: { store: open('one') } })
    await first.runner.start()
    await first.say('first')
    const id = first.archive()[0]?.subagentId ?? ''
    const key = `agents/subagent-${id}/sessions/${id}.jsonl`
    await first.runner.stop()
    const file = join(transcripts, 'world.files', key)
    const before = readFileSync(file, 'utf8')
    const second = archiving({ seed: 7, runner: { store: open('two') } })
    await second.runner.start()
    await second.say('second')
    expect(second.archive()).toMatchObject([{ phase: 'disk', status: 'failed', subagentId: id }])
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(second.told('archive-cleanup-failed')).toEqual([])
  })

  it('tells what is left of its holder if that cannot be removed', async () => {
    const inner = memoryStore()
    let removals = 0
    const store = failing(inner, {
      appendTranscript: () => true,
      delete: () => ++removals > 0,
      deleteTranscript: () => false,
    })
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    expect(removals).toBe(3)
    const subagentId = made.archive()[0]?.subagentId
    expect(made.told('archive-cleanup-failed')).toMatchObject([
      { left: ['world'], message: 'delete failed', subagentId },
    ])
    expect(made.world.query(HolderDraft)).toEqual([])
  })
})

describe('the transcript', () => {
  it('of a holder is header, messages and summary, then what it is asked; its agent’s has the turn and what became of it', async () => {
    const umask = process.umask(0)
    onTestFinished(() => void process.umask(umask))
    const { folder, store } = await sqlite()
    const made = archiving({ runner: { store }, model: { usage: { input: 10, output: 1 } } })
    await made.runner.start()
    const ended = made.next('turn-ended')
    await made.runner.message(made.agent, 'first')
    await ended
    const slice = made.messages().slice(0, 12)
    await made.runner.idle()
    const id = made.holders()[0]?.sessionId ?? ''
    const held = `agents/subagent-${id}/sessions/${id}.jsonl`
    const own = `agents/agent-${made.agent}/sessions/world.jsonl`
    const lines = async (key: string) =>
      ((await store.transcript('world', key)) ?? []).map((line) => JSON.parse(line) as Record<string, unknown>)

    const [head, ...rest] = await lines(held)
    expect(head).toMatchObject({
      type: 'session',
      version: 1,
      key: id,
      parent: 'world',
      task: 'Archive: first',
      depth: 1,
    })
    expect(rest.slice(0, 12)).toMatchObject(
      slice.map((message, index) => ({ type: 'message', seq: index + 1, ...message })),
    )
    expect(rest.slice(12)).toEqual([
      {
        type: 'summary',
        style: 'structured',
        status: 'ok',
        truncated: false,
        text: validSummary,
        model: 'scripted/x',
        usage: { input: 10, output: 1 },
        costUsd: null,
        at: expect.any(Number) as number,
      },
    ])
    expect(Object.keys(rest[12] ?? {})).toEqual([
      'type',
      'style',
      'status',
      'truncated',
      'text',
      'model',
      'usage',
      'costUsd',
      'at',
    ])

    const mine = await lines(own)
    expect(mine.map(({ type }) => type)).toEqual(['session', ...slice.map(() => 'message'), 'rewrite'])
    expect(mine.at(-1)).toMatchObject({ text: `[archived: ${id}]`, id, fromSeq: 1, toSeq: 12 })

    await made.runner.subagents(made.agent).query(id, 'What?')
    await made.runner.idle()
    expect((await lines(held)).slice(14)).toMatchObject([
      { type: 'message', seq: 13, role: 'user', content: [{ text: 'What?' }] },
      { type: 'message', seq: 14, role: 'assistant', content: [{ text: 'Held: What?' }] },
    ])

    await made.say('second')
    const both = await lines(own)
    expect(both.map(({ type, seq }) => (type === 'message' ? seq : type))).toEqual([
      'session',
      ...Array.from({ length: 12 }, (_, index) => index + 1),
      'rewrite',
      ...Array.from({ length: 12 }, (_, index) => index + 13),
      'rewrite',
    ])
    const folders = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      join(entry.parentPath, entry.name).includes('agents'),
    )
    expect(folders.length).toBeGreaterThan(5)
    for (const entry of folders) {
      const path = join(entry.parentPath, entry.name)
      expect(statSync(path).mode & 0o777, path).toBe(entry.isDirectory() ? 0o700 : 0o600)
    }
  })

  it('of a world whose store is another one than before goes on behind what is there', async () => {
    const made = archiving()
    await made.runner.start()
    await made.say('first')
    await made.runner.stop()
    const store = memoryStore()
    const runner = new Runner(made.world, { ...made.options, store, clock: new VirtualClock() })
    onTestFinished(() => runner.stop())
    await runner.start()
    await runner.message(made.agent, 'second')
    await runner.idle()
    expect(made.archive().map(({ status }) => status)).toEqual(['archived', 'archived'])
    const lines = await store.transcript('world', `agents/agent-${made.agent}/sessions/world.jsonl`)
    expect(lines).toHaveLength(1 + 13)
    expect(lines?.[0]).toMatch(/^\{"type":"session",/)
  })
})

async function expectNothingLeft(made: ReturnType<typeof archiving>, store: Store, phase: string): Promise<void> {
  expect(made.messages()).toHaveLength(12)
  expect(made.asked('summary')).toEqual([])
  expect(made.told('archive-failed')).toMatchObject([{ agent: made.agent, phase }])
  expect(made.told('archive-cleanup-failed')).toEqual([])
  expect(made.holders()).toEqual([])
  expect(made.world.query(ArchiveJob)).toEqual([])
  expect(made.world.query(HolderDraft)).toEqual([])
  expect((await store.list()).map(({ name }) => name)).toEqual(['world'])
}
