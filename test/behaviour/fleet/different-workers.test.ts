import {
  agent,
  type HostOptions,
  lastText,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  type Tool,
  World,
} from 'entia'
import { Conversation, SubagentSession, ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { fleet } from './fleet.ts'

/** The chief passes everything on. */
const chief = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `It said: ${textOf(last)}`
  return { toolCalls: [{ name: 'subagent', arguments: { category: textOf(last), prompt: 'Turn a wheel.' } }] }
})

/** Calls its tool if it has one. */
const turner = scripted(({ messages, tools: [lathe] }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${textOf(last)} with '${lathe?.description}'`
  return lathe === undefined ? 'turned by hand' : { toolCalls: [{ name: lathe.name }] }
})

const models = { office: chief, turning: turner }

function lathe(description: string): Tool {
  return tool('lathe', () => 'turned', { description })
}

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'office/chief' }),
    SubagentRegistry({
      subagents: {
        turner: { name: 'turner', model: 'turning/x', tools: ['lathe'] },
        helper: { name: 'helper', model: 'turning/x' },
      },
    }),
  )
  return world
}

function say(text: string) {
  return { kind: 'message', agent: 1, message: { role: 'user', content: [{ type: 'text', text }] } }
}

const ended = (event: { readonly type: string; readonly path?: unknown }): boolean =>
  event.type === 'turn-ended' && event.path === undefined

const host = (): HostOptions => ({ models })

/** Workers with different Hosts. The first one has the root worlds; the others, which are older, take what it has tried in vain. */
function workshop(first: HostOptions, others: readonly HostOptions[]) {
  const made = fleet({ host, make })
  const refused: string[] = []
  const workers = others.map((has, index) =>
    made.worker(`other ${index + 1}`, {
      has,
      maxWorlds: 0,
      through: (board) => ({
        ...board,
        next: async (asking) => (refused.length > 0 ? board.next(asking) : []),
      }),
    }),
  )
  made.worker('first', { has: first, unfit: (_, code) => void refused.push(code ?? '') })
  return {
    ...made,
    refused,
    workers,
    answer: async (text: string) => {
      const end = made.next(ended)
      await made.post('desk', say(text))
      await end
      const world = await made.read('desk')
      const sessions = world.query(SubagentSession).map((session) => world.read(session, SubagentSession))
      return { said: lastText(world, world.query(Conversation)[0] ?? 0), sessions }
    },
  }
}

/** Workers of which none takes a session: they lie as they were launched, by the first one. */
async function launched(first: HostOptions, others: readonly HostOptions[]) {
  const made = fleet({ host, make })
  for (const [index, has] of others.entries()) made.worker(`other ${index + 1}`, { has, maxWorlds: 0, maxSessions: 0 })
  made.worker('first', { has: first, maxSessions: 0 })
  await made.post('desk', say('turner'))
  await expect.poll(() => made.board.unfinished).toHaveLength(1)
  const world = await made.read(made.board.unfinished[0]?.sessionId ?? '', 'desk')
  return world.read(1, ToolRegistry).tools.map(({ description }) => description)
}

describe('a session that needs what the worker lacks that launches it', () => {
  it('ends well on the one that has its tool, which the first leaves it to', async () => {
    const { answer, refused } = workshop({ models }, [{ models, tools: [lathe('Turns.')] }])
    const { said, sessions } = await answer('turner')
    expect(said).toBe("It said: turned with 'Turns.'")
    expect(sessions).toMatchObject([{ status: 'succeeded' }])
    expect(refused).toEqual(['missing-handler'])
  })

  it('ends well on the one that has its provider, which the first leaves it to', async () => {
    const { answer, refused } = workshop({ models: { office: chief } }, [{ models: { turning: turner } }])
    const { said, sessions } = await answer('helper')
    expect(said).toBe('It said: turned by hand')
    expect(sessions).toMatchObject([{ status: 'succeeded' }])
    expect(refused).toEqual(['unknown-provider'])
  })

  it.each([
    ['tool', 'turner', { models }, "Unknown tool 'lathe'"],
    ['provider', 'helper', { models: { office: chief } }, "Unknown model 'turning/x'"],
  ] as const)('fails where no worker has its %s, as in one process', async (_, category, has, error) => {
    const { answer, refused } = workshop(has, [has])
    const { said, sessions } = await answer(category)
    expect(said).toBe(`It said: Error: Subagent '${category}' failed: ${error}`)
    expect(sessions).toMatchObject([{ status: 'failed', error }])
    expect(refused).toEqual([])
  })

  it('fails where the worker that had its tool is gone', async () => {
    const { answer, board, workers } = workshop({ models }, [{ models, tools: [lathe('Turns.')] }])
    await workers[0]?.stop()
    board.presence.leave('other 1')
    // The other one looks around.
    board.pauses.tell()
    expect((await answer('turner')).sessions).toMatchObject([{ error: "Unknown tool 'lathe'" }])
  })
})

describe('a world with a tool that no living worker has', () => {
  const lists = scripted(({ messages, tools }) => `${messages.length}: ${tools.map(({ name }) => name).join()}.`)
  const lacking = { models: { office: lists } }
  const able = { ...lacking, tools: [lathe('Turns.')] }

  /** Its desk was asked once, by a worker that has stopped since. */
  async function left() {
    const makeDesk = (name: string): World => {
      const world = new World({ name, systems: standardSystems() })
      world.spawn(...agent({ model: 'office/x', tools: [lathe('Turns.')] }))
      return world
    }
    const made = fleet({ host: () => lacking, make: makeDesk })
    const said = async (): Promise<string | undefined> => {
      const world = await made.read('desk')
      return lastText(world, world.query(Conversation)[0] ?? 0)
    }
    const first = made.worker('first', { has: able })
    const end = made.next(ended)
    await made.post('desk', say('What have you?'))
    await end
    await first.stop()
    made.board.presence.leave('first')
    return { ...made, said }
  }

  it('waits for a worker that has it, and keeps it', async () => {
    const { post, said, worker } = await left()
    const refused = Promise.withResolvers<string>()
    worker('lacking', { has: lacking, unfit: (_, code, message) => refused.resolve(`${code}: ${message}`) })
    await post('desk', say('And now?'))
    expect(await refused.promise).toMatch(
      /^missing-handler: .*'lathe'.* No living worker has it: the world waits for one\./,
    )
    worker('second', { has: able })
    await expect.poll(said).toBe('3: lathe.')
  })

  it('loses it where the program says what happens to such tools', async () => {
    const { post, said, worker } = await left()
    worker('lacking', { has: lacking, dropsTools: true })
    await post('desk', say('And now?'))
    await expect.poll(said).toBe('3: .')
  })
})

describe('a tool that workers declare differently', () => {
  const [old, renewed] = [
    { models, tools: [lathe('Turns wood.')] },
    { models, tools: [lathe('Turns metal.')] },
  ]

  it('is declared as on the worker that launches the session', async () => {
    expect(await launched(renewed, [old])).toEqual(['Turns metal.'])
  })

  it('is declared as on the oldest of the others, where that one lacks it', async () => {
    expect(await launched({ models }, [old, renewed])).toEqual(['Turns wood.'])
  })

  it('is declared anew by the worker that drives the session', async () => {
    const made = fleet({ host, make })
    made.worker('old', { has: old, maxWorlds: 0, maxSessions: 0 })
    made.worker('new', { has: renewed, maxWorlds: 0 })
    made.worker('first', { has: { models }, maxSessions: 0 })
    const end = made.next(ended)
    await made.post('desk', say('turner'))
    await end
    const world = await made.read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe("It said: turned with 'Turns metal.'")
  })
})
