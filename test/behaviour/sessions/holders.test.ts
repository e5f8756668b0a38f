import { defineTool, fail, Llm, SessionPool, SubagentRegistry, textOf, user } from 'entia'
import { Boundary, Delegated, DelegationLimits, Effect, Pending, Prefix } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Archiving,
  archiving,
  type ArchivingOptions,
  callsInTurn,
  lastUser,
  looking,
  validSummary,
} from '../context/archiving.ts'
import { recordHolder } from '../../../src/rules/delegation/record-holder.ts'
import { gate, turns } from '../turns/driving.ts'
import { transcript } from '../../transcript.ts'
import { stores } from './kinds-of-stores.ts'
import type { Behaviour } from './team.ts'

const explanation =
  'These subagents hold archived prior turns of this conversation. Use the `query_subagent(id, prompt)` tool to retrieve detail; spawn a new one with `spawn_subagent(task)` to fan out. Do not query unless you actually need the detail.'

/** Does what it is told: `call <tool> <JSON>` calls a tool, all else is heavy work. */
const obedient: Behaviour = (request, context) => {
  const [, name, input] = /^call (\S+) (.*)$/s.exec(lastUser(request)) ?? []
  if (name === undefined || input === undefined) return looking(5)(request, context)
  if (callsInTurn(request) > 0) return 'Called.'
  return { toolCalls: [{ id: `call-${request.messages.length}`, name, arguments: input }] }
}

const call = (name: string, input: object): string => `call ${name} ${JSON.stringify(input)}`
const ask = (id: string, prompt = 'What?'): string => call('query_subagent', { id, prompt })

async function started(options: ArchivingOptions = {}): Promise<Archiving> {
  const made = archiving({ work: obedient, ...options })
  await made.runner.start()
  return made
}

/** The result of the newest tool call, as its model read it. */
const result = (made: Archiving): string =>
  textOf([...(made.asked('work').at(-1)?.request.messages ?? [])].findLast(({ role }) => role === 'tool'))
const idOf = (made: Archiving, index = 0): string => made.holders()[index]?.sessionId ?? ''
const tailOf = (made: Archiving): string => made.asked('work').at(-1)?.request.tail.map(textOf).join('|') ?? ''

describe('a holder', () => {
  it('answers a question of its agent: both sides stay in it, the cost is the agent’s, and it leaves memory', async () => {
    const made = await started({ model: { usage: { input: 10, output: 1 } } })
    await made.say('first')
    const spent = made.world.read(made.agent, Delegated).spentTokens
    await made.say(ask(idOf(made), 'Where?'))
    expect(result(made)).toBe('Held: Where?')
    expect(made.world.read(made.agent, Delegated)).toMatchObject({ launched: 0, spentTokens: spent + 11 })
    expect(made.world.read(made.agent, Delegated)).toMatchObject({ finished: 0, reservedTokens: 0 })
    const held = await made.runner.subagents(made.agent).transcript(idOf(made))
    expect(held?.messages.slice(-2).map((message) => textOf(message))).toEqual(['Where?', 'Held: Where?'])
    expect(made.runner.stats.inFlight).toBe(0)
    await made.say(ask(idOf(made), 'And why?'))
    expect(result(made)).toBe('Held: And why?')
  })

  it('has the turn as it was, and its model reads calls and results as text', async () => {
    const made = await started({
      work: (request, context) =>
        callsInTurn(request) === 5 ? { thinking: 'Secret.', text: 'Done.' } : looking(5)(request, context),
    })
    const long = 'x'.repeat(20_000)
    const ended = made.next('turn-ended')
    await made.runner.message(made.agent, `first ${long}`)
    await ended
    const before = made.messages().slice(0, 12)
    await made.runner.idle()
    await made.runner.subagents(made.agent).query(1, 'What?')
    const held = await made.runner.subagents(made.agent).transcript(1)
    expect(held?.messages.slice(0, 12)).toEqual(before)
    const request = made.asked('held')[0]?.request
    const blocks = [...(request?.messages ?? [])].flatMap<{ type: string; text?: string }>(({ content }) => [
      ...content,
    ])
    expect(new Set(blocks.map(({ type }) => type))).toEqual(new Set(['text']))
    expect([...(request?.messages ?? [])].map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'],
      ...['assistant', 'user', 'assistant', 'user', 'assistant', 'user'],
    ])
    const texts = blocks.map(({ text }) => text ?? '')
    expect(texts).toContain('[tool_use: look({"at":"place 1"})]')
    expect(texts).toContain('[tool_result: Seen: place 1]')
    expect(texts.join()).not.toContain('Secret')
    expect(texts[0]).toContain(long)
    expect(request?.system).toContain('Archive: first xxx')
  })

  it('reads long results whole', async () => {
    const at = 'y'.repeat(9_000)
    const made = await started({
      work: (request) =>
        callsInTurn(request) === 0 ? { toolCalls: [{ id: 'a', name: 'look', arguments: { at } }] } : 'Done.',
      archival: { trigger: { toolCallThreshold: 1 } },
    })
    await made.say('first')
    expect(JSON.stringify([...(made.asked('summary')[0]?.request.messages ?? [])])).toContain('characters left out')
    await made.runner.subagents(made.agent).query(1, 'What?')
    expect(JSON.stringify([...(made.asked('held')[0]?.request.messages ?? [])])).toContain(`Seen: ${at}`)
  })

  it('declares no tool of any kind, and a call made all the same is answered with an error', async () => {
    const made = await started({
      agent: { model: 'scripted/x' },
      work: looking(5),
      held: (request) =>
        JSON.stringify([...request.messages]).includes('there is no tool')
          ? 'I have none.'
          : { toolCalls: [{ id: 'a', name: 'look' }] },
    })
    await made.runner.change((world) => {
      const extra = { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: 'auto', top_k: 3 }
      world.patch(made.agent, Llm, { extra })
    })
    await made.say('first')
    await expect(made.runner.subagents(made.agent).query(1, 'What?')).resolves.toBe('I have none.')
    for (const { request } of made.asked('held')) {
      expect(request.tools).toEqual([])
      expect(request.options.extra).toEqual({ top_k: 3 })
      const types = [...request.messages].flatMap(({ content }) => content.map(({ type }) => type))
      expect(types).not.toContain('tool-call')
    }
    expect(made.asked('held')).toHaveLength(2)
  })

  it('that fails at a question tells so, and answers the next one', async () => {
    const made = await started({
      held: (request) => (lastUser(request) === 'Why?' ? fail('refused', { message: 'boom' }) : 'Fine.'),
    })
    await made.say('first')
    await made.say(ask(idOf(made), 'Why?'))
    expect(result(made)).toBe(`Error: Subagent ${idOf(made)} could not answer: boom`)
    await made.say(ask(idOf(made), 'How?'))
    expect(result(made)).toBe('Fine.')
  })

  it('is asked by its id, a prefix of it, or its number, and not by another name', async () => {
    const made = await started()
    await made.say('first')
    for (const name of [idOf(made).slice(0, 14), '1']) {
      await made.say(ask(name))
      expect(result(made)).toBe('Held: What?')
    }
    await made.say(ask('session-nope'))
    expect(result(made)).toBe('Error: Session not found: session-nope')
    await made.runner.subagents(made.agent).kill(1)
    await made.say(ask(idOf(made)))
    expect(result(made)).toBe(`Error: Subagent ${idOf(made)} cannot be queried: closed`)
  })

  it('answers questions in their order, and several holders answer side by side', async () => {
    const made = await started({
      work: (request, context) => {
        if (lastUser(request) !== 'ask all') return obedient(request, context)
        if (callsInTurn(request) > 0) return 'Asked.'
        const questions = [
          [0, 'a'],
          [0, 'b'],
          [1, 'c'],
        ] as const
        return {
          toolCalls: questions.map(([index, prompt]) => ({
            id: prompt,
            name: 'query_subagent',
            arguments: { id: idOf(made, index), prompt },
          })),
        }
      },
      held: async (request, { sleep }) => {
        await sleep(1_000)
        return `Held: ${lastUser(request)}`
      },
    })
    await made.say('first')
    await made.say('second')
    const from = made.world.nowMs
    await made.say('ask all')
    expect(transcript(made.world, made.agent).slice(-4, -1)).toEqual([
      expect.stringContaining('Held: a') as string,
      expect.stringContaining('Held: b') as string,
      expect.stringContaining('Held: c') as string,
    ])
    expect(made.world.nowMs - from).toBe(2_000)
  })

  it('takes no slot, no number of sessions and no grant, and never expires', { timeout: 60_000 }, async () => {
    const stuck: Behaviour = (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('')))
    const made = await started({
      work: (request, context) =>
        lastUser(request).startsWith('Wait') ? stuck(request, context) : looking(5)(request, context),
      parts: [DelegationLimits({ sessions: 5 }), SubagentRegistry({ subagents: { idler: { name: 'idler' } } })],
      runner: { sessionPool: new SessionPool({ cap: 5 }) },
    })
    const subagents = made.runner.subagents(made.agent)
    for (let index = 0; index < 5; index++) await subagents.spawn({ category: 'idler', prompt: `Wait ${index}` })
    for (let index = 0; index < 20; index++) {
      const archived = made.next('turn-archived')
      await made.runner.message(made.agent, `turn ${index}`)
      await archived
    }
    expect(made.holders()).toHaveLength(20)
    expect(subagents.list({ active: true }).map(({ status }) => status)).toEqual(
      Array.from({ length: 5 }, () => 'running'),
    )
    expect(new Set(subagents.list().map(({ sequence }) => sequence)).size).toBe(25)
    for (let index = 1; index <= 5; index++) await subagents.cancel(index)
    await made.runner.idle()
    await made.runner.change((world) => {
      const twoYearsMs = 2 * 365 * 24 * 3_600_000
      world.spawn(Effect({ attempt: 1, deadlineMs: world.nowMs + twoYearsMs, kind: 'timer', restart: 'pure' }), Pending)
    })
    await made.runner.idle()
    for (let index = 0; index < 20; index++) {
      await expect(subagents.query(idOf(made, index), `What ${index}?`)).resolves.toBe(`Held: What ${index}?`)
    }
  })
})

describe('a question to a holder', () => {
  const heavy: ArchivingOptions = {
    archival: { trigger: { tokenThreshold: 1 } },
    held: (request) => `Held: ${lastUser(request)}`,
  }

  it.each(stores)(
    'may be archived in turn; the inner holder is known once an answer has named it (%s)',
    async (_, open) => {
      const made = await started({ ...heavy, runner: { store: await open() } })
      await nested(made)
      expect(made.holders().length).toBeGreaterThan(1)
    },
  )

  it('may be archived in turn without a store too', async () => {
    const made = await started(heavy)
    await nested(made)
    expect(made.holders().length).toBeGreaterThan(1)
  })

  async function nested(made: Archiving): Promise<void> {
    await made.say('first')
    const outer = idOf(made)
    const { runner, agent } = made
    await expect(runner.subagents(agent).query(outer, 'What?')).resolves.toBe('Held: What?')
    await runner.idle()
    expect(made.told('turn-archived').map(({ path }) => path?.length ?? 0)).toEqual([0, 1])
    const inner = made.told('turn-archived').find(({ path }) => path !== undefined)
    const id = inner?.subagentId ?? ''
    await made.say(ask(id))
    expect(result(made)).toBe(`Error: Session not found: ${id}`)
    await made.say(ask(outer, 'Again?'))
    expect(result(made)).toBe(`Held: Again?\n\nArchived within this subagent:\n- id: ${id} | task: Archive: What?`)
    await made.say(ask(id, 'Inner?'))
    expect(result(made)).toBe('Held: Inner?')
    const asked = made.asked('held').at(-1)?.request
    expect([...(asked?.messages ?? [])].map((message) => textOf(message))).toEqual(['What?', 'Held: What?', 'Inner?'])
    expect(tailOf(made)).not.toContain(`- id: ${id}`)
  }

  it('costs who has asked what its summary costs as well', async () => {
    const made = await started({ ...heavy, model: { usage: { input: 10, output: 1 } } })
    await made.say('first')
    await made.runner.subagents(made.agent).query(1, 'What?')
    await made.runner.idle()
    expect(made.told('turn-archived')).toHaveLength(2)
    expect(made.asked('held')).toHaveLength(1)
    expect(made.world.read(made.agent, Delegated)).toMatchObject({ spentTokens: 22 })
  })

  it('is not archived at the cap', async () => {
    const made = await started({ ...heavy, archival: { trigger: { depthCap: 1, tokenThreshold: 1 } } })
    await made.say('first')
    await made.runner.subagents(made.agent).query(1, 'What?')
    await made.runner.idle()
    expect(made.told('turn-archived')).toHaveLength(1)
    expect(made.told('archive-skipped')).toMatchObject([{ reason: 'depth_cap' }])
  })

  it('that is being archived is gone on with at the next one', async () => {
    const summaries = gate()
    let count = 0
    const made = await started({
      ...heavy,
      summary: async (_, { signal }) => {
        if (count++ !== 1) return validSummary
        await Promise.race([summaries.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        return validSummary
      },
    })
    await made.say('first')
    const { runner, agent } = made
    await expect(runner.subagents(agent).query(1, 'What?')).resolves.toBe('Held: What?')
    await turns(20)
    await expect(runner.subagents(agent).query(1, 'More?')).resolves.toContain('Held: More?')
    await runner.idle()
    expect(made.told('turn-archived').filter(({ path }) => path !== undefined)).toHaveLength(2)
  })
})

describe('the list of live subagents', () => {
  it('stands behind the conversation, and a new holder does not break the prefix', async () => {
    const made = await started({ agent: { system: 'You work.' } })
    await made.say(call('look', { at: 'x' }))
    expect(tailOf(made)).toBe('')
    await made.say('first')
    await made.say(call('look', { at: 'y' }))
    const block = `# Live Subagents\n\n${explanation}\n\n- id: ${idOf(made)} | task: Archive: first`
    expect(made.asked('work').at(-1)?.request.tail).toEqual([user(block)])
    expect(made.asked('work').at(-1)?.request.system).toBe('You work.')
    const before = made.told('prefix-broken').length
    await made.runner.change((world) => {
      recordHolder(world, made.agent, {
        model: 'scripted/x',
        sessionId: 'session-00000000000000aa',
        task: 'Archive: b',
      })
    })
    await made.say(call('look', { at: 'z' }))
    expect(tailOf(made)).toBe(`${block}\n- id: session-00000000000000aa | task: Archive: b`)
    expect(made.told('prefix-broken')).toHaveLength(before)
  })

  it('may end the system prompt, and then a new holder breaks the prefix', async () => {
    const made = await started({ archival: { placement: 'system' }, agent: { system: 'You work.' } })
    await made.say(call('look', { at: 'x' }))
    expect(made.asked('work').at(-1)?.request.system).toBe('You work.')
    await made.say('first')
    await made.say(call('look', { at: 'y' }))
    const last = made.asked('work').at(-1)?.request
    expect(last?.system).toBe(
      `You work.\n\n# Live Subagents\n\n${explanation}\n\n- id: ${idOf(made)} | task: Archive: first`,
    )
    expect(last?.tail).toEqual([])
    expect(made.told('prefix-broken').at(-1)).toMatchObject({ component: 'SystemPrompt' })
    expect(made.world.has(made.agent, Prefix)).toBe(true)
  })

  it('may be all of the system prompt', async () => {
    const made = await started({ archival: { placement: 'system' } })
    await made.say('first')
    await made.say(call('look', { at: 'y' }))
    expect(made.asked('work').at(-1)?.request.system).toMatch(/^# Live Subagents\n/)
  })

  it('names sessions that are under way, with their status', async () => {
    const open = gate()
    const made = await started({
      work: async (request, context) => {
        if (lastUser(request).startsWith('Dig')) await open.promise
        return obedient(request, context)
      },
      parts: [SubagentRegistry({ subagents: { digger: { name: 'digger' } } })],
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.say('first')
    const subagents = made.runner.subagents(made.agent)
    const began = made.next('delegation-started')
    const one = await subagents.spawn({ category: 'digger', prompt: 'Dig here\nand there' })
    const two = await subagents.spawn({ category: 'digger', prompt: `Dig ${'x'.repeat(99)}` })
    await began
    const ended = made.next('turn-ended')
    await made.runner.message(made.agent, call('look', { at: 'y' }))
    await ended
    expect(tailOf(made).split('\n').slice(4)).toEqual([
      `- id: ${idOf(made)} | task: Archive: first`,
      `- id: ${one.sessionId} | task: Dig here | status: running`,
      `- id: ${two.sessionId} | task: Dig ${'x'.repeat(73)}... | status: queued`,
    ])
    await made.runner.change((world) => {
      const boundary = { atMs: 0, by: 'manual' as const, kind: 'summary' as const, missingHeadings: [], seq: 1 }
      world.append(made.agent, Boundary, { ...boundary, text: 'So far.', truncated: false, usage: {} })
    })
    const again = made.next('turn-ended')
    await made.runner.message(made.agent, call('look', { at: 'y' }))
    await again
    // What is listed here is not repeated among what is still so.
    expect(tailOf(made)).toContain(`- id: ${one.sessionId} | task: Dig here | status: running`)
    expect(tailOf(made)).not.toContain(`- session ${one.sessionId}`)
    open.resolve()
    await made.runner.idle()
    await made.say(call('look', { at: 'z' }))
    expect(tailOf(made)).not.toContain('status:')
  })

  it('shows no more than it may, the newest', async () => {
    const made = await started({ archival: { maxListed: 2 } })
    for (const text of ['a', 'b', 'c', 'd']) await made.say(text)
    await made.say(call('look', { at: 'y' }))
    expect(tailOf(made).split('\n').slice(4)).toEqual([
      '- (2 older subagents not listed)',
      `- id: ${idOf(made, 2)} | task: Archive: c`,
      `- id: ${idOf(made, 3)} | task: Archive: d`,
    ])
  })

  it('is nowhere as long as there is nothing to list', async () => {
    const made = await started({ archival: { trigger: { toolCallThreshold: null } } })
    await made.say('first')
    const requests = made
      .asked()
      .map(({ request }) => JSON.stringify([request.system, [...request.messages], request.tail]))
    expect(requests.filter((text) => text.includes('# Live Subagents'))).toEqual([])
  })
})

describe('the tools of archival', () => {
  it('stand at the same place from the first step on', async () => {
    const made = await started()
    await made.say('first')
    await made.say('second')
    const lists = made.asked('work').map(({ request }) => request.tools.map(({ name }) => name).join())
    expect(new Set(lists)).toEqual(new Set(['look,query_subagent,spawn_subagent,recall']))
  })

  it('let an agent spawn a worker with just the tools that it names, or those of a preset that it has', async () => {
    const tool = (name: string) =>
      defineTool({ name, description: name, input: z.object({}), restart: 'pure', run: () => name })
    const tools = ['read_file', 'grep_files', 'bash'].map(tool)
    const made = await started({ agent: { tools }, runner: { tools } })
    const toolsOf = async (input: object): Promise<readonly string[]> => {
      await made.say(call('spawn_subagent', { task: 'Dig', ...input }))
      const { subagent_id: id, status } = JSON.parse(
        made
          .messages()
          .map((message) => textOf(message))
          .findLast((text) => text.startsWith('{"subagent_id')) ?? '{}',
      ) as { subagent_id: string; status: string }
      expect(status).toBe('queued')
      const [asked] = made
        .asked('work')
        .filter(({ request }) => request.system.includes('"worker"'))
        .slice(-1)
      expect(asked?.request.system).toContain('report that you are blocked instead of trying again')
      expect(id).toMatch(/^session-/)
      return asked?.request.tools.map(({ name }) => name) ?? []
    }
    const always = ['query_subagent', 'recall']
    expect(await toolsOf({})).toEqual(always)
    expect(await toolsOf({ tools: ['bash'] })).toEqual(['bash', ...always])
    expect(await toolsOf({ preset: 'minimal' })).toEqual(['read_file', 'grep_files', ...always])
    expect(await toolsOf({ preset: 'work' })).toEqual(['read_file', 'grep_files', 'bash', ...always])
    expect(await toolsOf({ preset: 'work', tools: ['read_file'] })).toEqual(['read_file', ...always])
    await made.say(call('spawn_subagent', { task: 'Dig', tools: ['fly'] }))
    expect(result(made)).toBe("Error: Invalid arguments for 'spawn_subagent': tools: there is no tool named fly")
    await made.say(call('spawn_subagent', { task: 'Dig', preset: 'all' }))
    expect(result(made)).toMatch(/^Error: Invalid arguments for 'spawn_subagent': preset: /)
  })

  it('deny in a worker what would need an approval', async () => {
    let runs = 0
    const risky = defineTool({
      name: 'risky',
      description: 'Risks.',
      input: z.object({}),
      restart: 'once',
      approval: true,
      run: () => `${++runs}`,
    })
    const made = await started({
      agent: { tools: [risky] },
      runner: { tools: [risky], approve: () => Promise.resolve(true) },
      work: (request, context) => {
        if (lastUser(request) !== 'Dig') return obedient(request, context)
        const last = textOf([...request.messages].findLast(({ role }) => role === 'tool'))
        return last === '' ? { toolCalls: [{ id: 'r', name: 'risky' }] } : `Blocked: ${last}`
      },
    })
    await made.say(call('spawn_subagent', { task: 'Dig', tools: ['risky'] }))
    expect(runs).toBe(0)
    await expect(made.runner.subagents(made.agent).collect(1)).resolves.toContain(
      "Blocked: Error: 'risky' needs an approval",
    )
  })
})

describe('a fork', () => {
  it('knows the holders that its parent knew, and no other', async () => {
    const made = await started({
      parts: [SubagentRegistry({ subagents: {} })],
      work: (request, context) => {
        const directive = lastUser(request)
        const [, id] = /Directive: ask (\S+)$/.exec(directive) ?? []
        if (id === undefined) return obedient(request, context)
        return callsInTurn(request) === 0
          ? { toolCalls: [{ id: 'f', name: 'query_subagent', arguments: { id, prompt: 'What?' } }] }
          : textOf([...request.messages].findLast(({ role }) => role === 'tool'))
      },
    })
    await made.say('first')
    const subagents = made.runner.subagents(made.agent)
    const { sessionId } = await subagents.fork(`ask ${idOf(made)}`)
    await expect(subagents.collect(sessionId)).resolves.toBe('Held: What?')
    await made.runner.idle()
    expect(made.told('prefix-broken').filter(({ path }) => path !== undefined)).toEqual([])
  })

  it('shares a system prompt that lists them, and the sessions under way at that moment', async () => {
    const open = gate()
    const made = await started({
      archival: { placement: 'system' },
      parts: [SubagentRegistry({ subagents: { digger: { name: 'digger' } } })],
      agent: { system: 'You work.' },
      work: async (request, context) => {
        if (lastUser(request) === 'Dig') await open.promise
        return obedient(request, context)
      },
    })
    await made.say('first')
    const subagents = made.runner.subagents(made.agent)
    const began = made.next('delegation-started')
    const { sessionId } = await subagents.spawn({ category: 'digger', prompt: 'Dig', notify: false })
    await began
    const ended = made.next('turn-ended')
    await made.runner.message(made.agent, call('look', { at: 'x' }))
    await ended
    const before = made.told('prefix-broken').length
    const last = made.asked('work').at(-1)?.request.system
    expect(last).toContain(
      `- id: ${idOf(made)} | task: Archive: first\n- id: ${sessionId} | task: Dig | status: running`,
    )
    const forkEnded = made.next('session-ended')
    await subagents.fork(call('look', { at: 'y' }))
    await forkEnded
    const forked = made.asked('work').findLast(({ request }) => lastUser(request).includes('Directive: '))?.request
    expect(forked?.system).toBe(last)
    expect(made.told('prefix-broken').length).toBe(before)
    open.resolve()
    await made.runner.idle()
  })
})

describe('a session', () => {
  it('has its last turn left whole, and its result is not delayed', async () => {
    const made = await started({
      parts: [
        SubagentRegistry({ subagents: { digger: { name: 'digger', inheritancePolicy: { inheritTools: ['look'] } } } }),
      ],
    })
    const subagents = made.runner.subagents(made.agent)
    await subagents.spawn({ category: 'digger', prompt: 'Dig', notify: false })
    await expect(subagents.collect(1)).resolves.toBe('Did: Dig')
    expect(made.told('archive-skipped')).toMatchObject([
      { reason: 'session_over', path: [made.runner.subagents(made.agent).list()[0]?.sessionId] },
    ])
    expect(made.asked('summary')).toEqual([])
    await expect(subagents.query(1, 'More')).resolves.toBe('Did: More')
    await made.runner.idle()
    expect(made.told('turn-archived')).toMatchObject([{ reason: 'tool_calls', fromSeq: 13 }])
    await expect(subagents.query(1, call('look', { at: 'x' }))).resolves.toContain('Archived within this subagent:')
  })
})
