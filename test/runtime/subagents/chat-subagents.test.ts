import { defineTool, Host, realClock, scripted, type ScriptedBehaviour, VirtualClock } from 'entia'
import {
  type ChatSession,
  collectSubagent,
  killSubagent,
  listSubagents,
  type NewSessionOptions,
  openSession,
  querySubagent,
  sessionSetup,
  spawnSubagent,
  turn,
} from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { rejection } from '../../behaviour/turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting, gate } from '../chat/chatting.ts'

const names = ['read_file', 'grep_files', 'js_help', 'bash', 'write_file']

/** Tools that note each call. */
function tools(ran: string[] = [], approval = false) {
  return names.map((name) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      input: z.object({}),
      restart: 'once',
      ...(approval && { approval: true }),
      run: () => (ran.push(name), `ran ${name}`),
    }),
  )
}

/** Answers each task and question with its own words. */
const echo: ScriptedBehaviour = ({ messages }) => `About ${said(messages.at(-1))}`

function said(message: unknown): string {
  const { content } = message as { readonly content: readonly { readonly text?: string }[] }
  return content.map(({ text = '' }) => text).join('')
}

function chat(behaviour: ScriptedBehaviour = echo, options: NewSessionOptions = {}) {
  return chatting(behaviour, { tools: tools(), ...options })
}

const waiting = { wait: true }

/** A chat session that is stored in a folder, and a function that opens it again once it is closed. */
async function stored(behaviour: ScriptedBehaviour, own = tools()) {
  const folder = await tempFolder({})
  const places = ['CONFIG', 'DATA', 'CACHE', 'STATE'].map((name) => [`ENTIA_${name}_DIR`, `${folder}/${name}`])
  const common = {
    env: { ...Object.fromEntries(places), HOME: folder },
    cwd: folder,
    tools: own,
    host: { clock: new VirtualClock(), models: { script: scripted(behaviour) } },
    onNotice: () => undefined,
  }
  const session = await sessionSetup({ ...common, provider: 'script', model: 'm' })
  const again = async () => {
    const opened = await openSession({ ...common, key: session.key })
    onTestFinished(() => opened.close())
    return opened
  }
  onTestFinished(() => session.close())
  return { again, session }
}

describe('a subagent of a chat session', () => {
  it('works on its task at once, and its answer is collected once', async () => {
    const { session } = chat()
    const id = await spawnSubagent(session, { task: 'the roof' })
    expect(id).toMatch(/^session-[0-9a-f]{16}$/)
    expect(await collectSubagent(session, id, waiting)).toBe('About the roof')
    expect(await rejection(collectSubagent(session, id))).toMatchObject({ code: 'nothing-pending' })
  })

  it('wakes the agent of the chat session by nothing', async () => {
    const { session, requests } = chat()
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    expect(requests).toHaveLength(1)
    expect(session.history).toEqual([])
    await turn('Hello', session)
    expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain('Background subagent updates')
  })

  it('answers questions when its task is done, knowing what it did', async () => {
    const { session, requests } = chat()
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    expect(await querySubagent(session, 1, 'the tiles')).toBe('About the tiles')
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain('the roof')
    expect(await rejection(collectSubagent(session, id))).toMatchObject({ code: 'nothing-pending' })
  })

  it('works on one thing at a time; what is under way is collected when it has ended', async () => {
    const asked = gate()
    const go = gate()
    const { session } = chat(async ({ messages }) => {
      const words = said(messages.at(-1))
      if (words.startsWith('the tiles')) {
        asked.resolve()
        await go.promise
      }
      return `About ${words}`
    })
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    const question = `the tiles ${'x'.repeat(80)}`
    expect(await querySubagent(session, id, question, { wait: false })).toBe(id)
    await asked.promise
    const busy = await rejection(querySubagent(session, id, 'another'))
    expect(busy).toMatchObject({ code: 'session-busy' })
    expect(String(busy)).toContain(question.slice(0, 55))
    expect(String(busy)).not.toContain(question.slice(0, 61))
    expect(await collectSubagent(session, id)).toBeUndefined()
    expect((await listSubagents(session))[0]).toMatchObject({ pending: true, contextTokens: undefined })
    go.resolve()
    expect(await collectSubagent(session, id, waiting)).toBe(`About ${question}`)
    expect(await rejection(collectSubagent(session, id))).toMatchObject({ code: 'nothing-pending' })
    expect(await killSubagent(session, 'nope')).toBe(false)
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('is not waited for %d milliseconds', async (timeoutMs) => {
    const { session } = chat()
    const id = await spawnSubagent(session, { task: 'the roof' })
    expect(await rejection(querySubagent(session, id, 'x', { timeoutMs }))).toMatchObject({ code: 'invalid-argument' })
  })

  it('goes on with a question whose time is up', async () => {
    const go = gate()
    const { session } = chat(
      async ({ messages }) => {
        const words = said(messages.at(-1))
        if (words === 'the tiles') await go.promise
        return `About ${words}`
      },
      { host: { clock: realClock } },
    )
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    expect(await querySubagent(session, id, 'the tiles', { timeoutMs: 0 })).toBeUndefined()
    go.resolve()
    expect(await collectSubagent(session, id, waiting)).toBe('About the tiles')
  })

  it('that is killed while it works on a question takes no more of them', async () => {
    const asked = gate()
    const { session } = chat(async ({ messages }, { signal }) => {
      const words = said(messages.at(-1))
      if (words !== 'the tiles') return `About ${words}`
      asked.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('called off'))))
    })
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    const asking = rejection(querySubagent(session, id, 'the tiles'))
    await asked.promise
    expect(await killSubagent(session, id)).toBe(true)
    expect(await asking).toMatchObject({ code: 'session-failed' })
    expect(await rejection(querySubagent(session, id, 'x'))).toMatchObject({ code: 'not-queryable' })
    expect(await killSubagent(session, id)).toBe(false)
  })

  it('is listed with what it has used on its task and on all questions', async () => {
    const usage = { input: 10, output: 5 }
    const { session } = chat(async ({ messages }) => ({ text: `About ${said(messages.at(-1))}`, usage }))
    const id = await spawnSubagent(session, { task: 'the roof' })
    await collectSubagent(session, id, waiting)
    const used = async () => (await listSubagents(session))[0]?.usage
    expect(await used()).toMatchObject({ calls: 1, input: 10, output: 5 })
    for (const question of ['its age', 'its tiles']) await querySubagent(session, id, question)
    expect(await used()).toMatchObject({ calls: 3, input: 30, output: 15 })
  })

  it.each([null, {}, [], -1, 1.5, '', true])('that is named by %j is none to end', async (id) => {
    const { session } = chat()
    await spawnSubagent(session, { task: 'the roof' })
    expect(await killSubagent(session, id as never)).toBe(false)
    await session.close()
    expect(await killSubagent(session, 1)).toBe(false)
  })

  it('is listed with what it costs and where it stands, by numbers that are not used again', async () => {
    const { session } = chat()
    for (const task of ['one', 'two']) await spawnSubagent(session, { task })
    for (const number of [1, 2]) await collectSubagent(session, number, waiting)
    await killSubagent(session, '2')
    await spawnSubagent(session, { task: 'three', model: 'other' })
    const listed = await listSubagents(session)
    expect(listed.map(({ number }) => number)).toEqual([1, 2, 3])
    expect(listed[0]).toMatchObject({ task: 'one', model: 'script/m', status: 'succeeded', pending: false })
    expect(listed[0]?.startedAt).toBeTypeOf('number')
    expect(listed[0]?.contextTokens).toBeGreaterThan(10)
    expect(listed[2]).toMatchObject({ task: 'three', model: 'script/other', pending: true })
  })

  it('is named by a prefix that no other one has, among those of its own chat session', async () => {
    const { session } = chat(echo, { seed: 1 })
    const { session: other } = chat(echo, { seed: 1 })
    const ids: string[] = []
    for (let number = 0; number < 20; number++) ids.push(await spawnSubagent(session, { task: `task ${number}` }))
    const foreign = await spawnSubagent(other, { task: 'elsewhere' })
    expect(await killSubagent(other, foreign.slice(0, 12))).toBe(true)
    const [first = ''] = ids
    const shared = ids.find((id) => ids.some((one) => one !== id && one[8] === id[8])) ?? ''
    const prefix = shared.slice(0, 9)
    const ambiguous = await rejection(querySubagent(session, prefix, 'x'))
    expect(ambiguous).toMatchObject({ code: 'ambiguous-id' })
    for (const id of ids.filter((one) => one.startsWith(prefix))) expect(String(ambiguous)).toContain(id)
    expect(await killSubagent(session, prefix)).toBe(false)
    expect(await killSubagent(session, first)).toBe(true)
    expect(await rejection(querySubagent(session, 'nope', 'x'))).toMatchObject({ code: 'unknown-session' })
  })
})

describe('a chat session that is closed', () => {
  it('leaves the session pool of the process', async () => {
    const { session } = chat()
    await spawnSubagent(session, { task: 'the roof' })
    await session.close()
    // The pool of the process has the cap of the first to join.
    const next = new Host({ maxSessions: 3 })
    expect(next.sessionPool.cap).toBe(3)
    next.close()
  })
})

describe('the tools of a subagent', () => {
  const toolsOf = async (
    session: ChatSession,
    requests: readonly { readonly tools?: readonly { name: string }[] }[],
  ) => {
    await collectSubagent(session, (await listSubagents(session)).length, waiting)
    // Besides those by which every agent of a chat keeps its context small.
    return (requests.at(-1)?.tools ?? []).map(({ name }) => name).filter((name) => names.includes(name))
  }

  it.each([
    [{ preset: 'minimal' as const }, ['read_file', 'grep_files']],
    [{}, ['read_file', 'grep_files', 'js_help']],
    [{ preset: 'work' as const }, names],
    [{ preset: 'work' as const, tools: ['bash'] }, ['bash']],
    [{ tools: [] }, []],
  ])('with %j are %j', async (options, expected) => {
    const { session, requests } = chat()
    await spawnSubagent(session, { task: 'x', ...options })
    expect(new Set(await toolsOf(session, requests))).toEqual(new Set(expected))
  })

  it('are those of the configured preset where none are named', async () => {
    const { session, requests } = chat(echo, { subagentPreset: 'minimal' })
    await spawnSubagent(session, { task: 'x' })
    expect(await toolsOf(session, requests)).toHaveLength(2)
  })

  it('are refused by name where the chat session lacks them', async () => {
    const { session } = chat()
    const refused = await rejection(spawnSubagent(session, { task: 'x', tools: ['write_fil'] }))
    expect(refused).toMatchObject({ code: 'invalid-argument' })
    expect(String(refused)).toMatch(/'write_fil'.*write_file.*It has: read_file, /)
    expect(await rejection(spawnSubagent(session, { task: 'x', preset: 'all' as never }))).toMatchObject({
      code: 'invalid-argument',
    })
    expect(await rejection(spawnSubagent(session, { task: ' ' }))).toMatchObject({ code: 'invalid-argument' })
    expect(await listSubagents(session)).toEqual([])
  })

  it('stay as they were granted, when it is asked further and after a restart too', async () => {
    const ran: string[] = []
    const results: string[] = []
    const { again, session } = await stored(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'tool') return { toolCalls: [{ name: 'bash', arguments: {} }] }
      results.push(said(last))
      return 'blocked'
    }, tools(ran))
    await spawnSubagent(session, { task: 'x', preset: 'investigate' })
    expect(await collectSubagent(session, 1, waiting)).toBe('blocked')
    await querySubagent(session, 1, 'again')
    await session.close()
    await querySubagent(await again(), 1, 'and again')
    expect(ran).toEqual([])
    expect(results).toHaveLength(3)
    expect(new Set(results)).toEqual(new Set(['Error: there is no tool named bash.']))
  })

  it('that need a yes are declined, and asked about only where the spawner said so', async () => {
    const asked: (string | undefined)[] = []
    const ran: string[] = []
    const behaviour: ScriptedBehaviour = ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'bash', arguments: {} }] }
    const { session } = chatting(behaviour, {
      tools: tools(ran, true),
      approve: ({ by }) => asked.push(by) > 0,
    })
    await spawnSubagent(session, { task: 'x', tools: ['bash'] })
    await collectSubagent(session, 1, waiting)
    expect([asked, ran]).toEqual([[], []])
    await spawnSubagent(session, { task: 'the roof', tools: ['bash'], approvals: 'parent' })
    await collectSubagent(session, 2, waiting)
    expect(ran).toEqual(['bash'])
    expect(asked).toEqual(['subagent 2: the roof'])
  })
})

describe('a chat session that is opened again', () => {
  it('has the answers of its subagents, and goes on with questions that were under way', async () => {
    const asked = gate()
    let isDown = true
    const { again, session: before } = await stored(async ({ messages }, { signal }) => {
      const words = said(messages.at(-1))
      if (words === 'the tiles' && isDown) {
        asked.resolve()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('called off'))))
      }
      return `About ${words}`
    })
    await spawnSubagent(before, { task: 'the roof' })
    await spawnSubagent(before, { task: 'the cellar' })
    await collectSubagent(before, 1, waiting)
    await querySubagent(before, 1, 'the tiles', { wait: false })
    await asked.promise
    await before.close()
    isDown = false
    const session = await again()
    expect(await collectSubagent(session, 1, waiting)).toBe('About the tiles')
    expect(await collectSubagent(session, 2, waiting)).toBe('About the cellar')
    expect(await rejection(collectSubagent(session, 1))).toMatchObject({ code: 'nothing-pending' })
    expect((await listSubagents(session)).map(({ number, task }) => [number, task])).toEqual([
      [1, 'the roof'],
      [2, 'the cellar'],
    ])
  })
})
