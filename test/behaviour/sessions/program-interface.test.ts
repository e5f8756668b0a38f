import { agent, memoryStore, SessionPool, type SkillDefinition, SubagentRegistry, textOf } from 'entia'
import { DelegationLimits, SubagentNotification, ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { rejection, reopened, turns } from '../turns/driving.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { byTask } from './pace.ts'
import { launched, look, program, refusal, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import type { TeamOptions } from './team.ts'

/** The least that tells an id from all others. */
function prefixOf(id: string, ids: readonly string[]): string {
  let length = 'session-'.length + 1
  while (ids.some((other) => other !== id && other.startsWith(id.slice(0, length)))) length++
  return id.slice(0, length)
}

describe('a session', () => {
  it('is named by its full id, by a unique prefix of it, and by its sequence number', async () => {
    const made = await program()
    const ids = await launched(made, ...Array.from({ length: 30 }, (_, index) => `task ${index}`))
    await made.runner.idle()
    const [id = ''] = ids.slice(7)
    const prefix = prefixOf(id, ids)
    for (const ref of [id, prefix, 8, '8']) {
      const { messages } = (await made.subagents.transcript(ref)) ?? { messages: [] }
      expect(textOf([...messages][0])).toBe('task 7')
      await expect(made.subagents.cancel(ref)).resolves.toBe(false)
      await expect(made.subagents.query(ref, 'Why?')).resolves.toBe('Done: task 7')
    }
    await expect(made.subagents.collect(prefix)).resolves.toBe('Done: task 7')
    await expect(refusal(made.subagents.collect(8))).resolves.toBe('nothing-pending')
    await expect(made.subagents.kill('8')).resolves.toBe(true)
    await expect(made.subagents.kill(id)).resolves.toBe(false)
  })

  it('is meant by no prefix that several have, by none that says nothing, and by no digits of its id', async () => {
    const made = await program()
    const ids = await launched(made, ...Array.from({ length: 40 }, (_, index) => `${index}`))
    const [first = ''] = ids
    const shared = first.slice(0, prefixOf(first, ids).length - 1)
    const several = ids.filter((id) => id.startsWith(shared)).length > 1 ? shared : ''
    expect(several.length).toBeGreaterThan('session-'.length)
    for (const refused of [
      made.subagents.cancel(several),
      made.subagents.kill(several),
      made.subagents.collect(several),
      made.subagents.query(several, 'Why?'),
      made.subagents.resume(several),
      made.subagents.transcript(several),
    ])
      await expect(refusal(refused)).resolves.toBe('ambiguous-id')
    for (const ref of ['session-', first.slice('session-'.length), 41, '041', 'ghost']) {
      await expect(refusal(made.subagents.cancel(ref))).resolves.toBe('unknown-session')
    }
  })

  it('is the business of its own agent alone', async () => {
    const made = await program({ worker: stuck })
    const other = await made.runner.change((world) =>
      world.spawn(...agent({ model: 'lead/x' }), SubagentRegistry({ subagents: {} })),
    )
    const [id = ''] = await launched(made, 'Look')
    const strangers = made.runner.subagents(other)
    expect(strangers.list()).toEqual([])
    await expect(strangers.kill(id)).resolves.toBe(false)
    for (const refused of [
      strangers.cancel(id),
      strangers.collect(id),
      strangers.query(id, 'Why?'),
      strangers.resume(1),
      strangers.transcript(id),
    ])
      await expect(refusal(refused)).resolves.toBe('unknown-session')
    expect(made.sessions()[0]?.status).not.toBe('cancelled')
    await made.runner.stop()
  })
})

describe('a program that launches sessions', () => {
  it('is told their ids and sequence numbers, in the order in which it asked, however many at once', async () => {
    const made = await program({ parts: [DelegationLimits({ sessions: 300 })] })
    const prompts = Array.from({ length: 300 }, (_, index) => `${index}`)
    const asked = prompts.map((prompt) => made.subagents.spawn({ category: 'researcher', prompt }))
    const told = await Promise.all(asked)
    expect(told.map(({ sequence }) => sequence)).toEqual(prompts.map((prompt) => Number(prompt) + 1))
    expect(new Set(told.map(({ sessionId }) => sessionId)).size).toBe(300)
    for (const { sessionId } of told) expect(sessionId).toMatch(/^session-[0-9a-f]{16}$/)
    await made.runner.idle()
    const list = made.subagents.list()
    expect(list.map(({ prompt }) => prompt)).toEqual(prompts)
    expect(list.map(({ sessionId }) => sessionId)).toEqual(told.map(({ sessionId }) => sessionId))
    expect(made.told('delegation-started').map(({ task }) => task)).toEqual(prompts)
  })

  it('has them in the background, told to answer so', async () => {
    const made = await program()
    await launched(made, 'Look')
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ mode: 'background' }])
    expect(made.asked('worker')[0]?.request.system).toContain('<subagent_background_result>')
  })

  it('has them for sure once it is told', async () => {
    const kept = memoryStore()
    const { store, die } = mortalStore(kept)
    const made = await program({ isMortal: true, runner: { store } })
    const spawned = made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await spawned
    die()
    await turns()
    const later = await reopened(kept, { ...made.options, sessionPool: new SessionPool() })
    expect(later.runner.subagents(made.lead).list()).toMatchObject([await spawned])
  })

  it('may have them without a word to their agent', async () => {
    const made = await program({ registry: { wakeIdle: true } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'quiet', notify: false })
    await made.runner.idle()
    expect(made.world.query(SubagentNotification)).toEqual([])
    expect(made.asked('lead')).toEqual([])
    await launched(made, 'loud')
    await made.runner.idle()
    expect(made.world.query(SubagentNotification)).toHaveLength(1)
    expect(made.asked('lead')).toHaveLength(1)
  })

  it('may give them skills, and a time', async () => {
    const skill: SkillDefinition = { name: 'maps', prompt: 'You read maps.' }
    const made = await program({ worker: stuck, runner: { skills: [skill] } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', loadSkills: ['maps'], timeoutMs: 250 })
    await once(made, () => made.asked('worker').length === 1)
    expect(made.asked('worker')[0]?.request.system).toContain('You read maps.')
    expect(made.sessions()).toMatchObject([{ timeoutMs: 250, loadSkills: ['maps'] }])
    await made.runner.stop()
  })

  const conflicting: TeamOptions = {
    parts: [ToolRegistry({ tools: [{ ...look.declaration, description: 'Another one.' }] })],
    subagents: {
      researcher: { tools: ['look'], inheritancePolicy: { inheritTools: ['look'], toolConflictPolicy: 'error' } },
    },
    runner: { tools: [look] },
  }
  const strict: TeamOptions = { subagents: { researcher: { inheritancePolicy: { missingSkillPolicy: 'error' } } } }
  const ask = { category: 'researcher', prompt: 'Look' }

  it.each([
    [
      'unknown category',
      { ...ask, category: 'ghost' },
      'invalid-argument',
      "Unknown subagent 'ghost'. Available subagents: researcher",
      {},
    ],
    ['blank category', { ...ask, category: '  ' }, 'invalid-argument', 'category', {}],
    ['empty prompt', { ...ask, prompt: '' }, 'invalid-argument', 'prompt', {}],
    ['blank prompt', { ...ask, prompt: ' \n' }, 'invalid-argument', 'prompt', {}],
    ['blank skill', { ...ask, loadSkills: ['maps', ' '] }, 'invalid-argument', 'loadSkills', {}],
    ['time of nothing', { ...ask, timeoutMs: 0 }, 'invalid-argument', 'timeoutMs', {}],
    ['time that never ends', { ...ask, timeoutMs: Infinity }, 'invalid-argument', 'timeoutMs', {}],
    ['option that there is not', { ...ask, background: true }, 'invalid-argument', 'background', {}],
    ['skill that is nowhere', { ...ask, loadSkills: ['x'] }, 'missing-skill', "Missing skill 'x'", strict],
    ['conflict of tools', ask, 'tool-conflict', "Tool inheritance conflict for 'look'", conflicting],
    ['limit', ask, 'limit-reached', 'Delegation limit reached: depth', { parts: [DelegationLimits({ depth: 0 })] }],
  ] as const)('is refused for want of sense: %s', async (_, options, code, message, world: TeamOptions) => {
    const made = await program(world)
    const refused = await rejection(made.subagents.spawn(options))
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) as string })
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
    expect(made.asked()).toEqual([])
  })

  it('is refused for an entity that is no agent', async () => {
    const made = await program()
    const nobody = made.runner.subagents(999)
    await expect(refusal(nobody.spawn(ask))).resolves.toBe('invalid-argument')
    expect(nobody.list()).toEqual([])
  })
})

describe('a program that ends a session', () => {
  it('that is queued or running is told so, and one that has ended stays as it was', async () => {
    const made = await program({
      worker: byTask({ short: () => 'Found.', long: stuck }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await launched(made, 'short', 'long', 'queued')
    await once(made, () => made.sessions()[1]?.status === 'running' && made.asked('worker').length === 2)
    const signal = made.asked('worker')[1]?.context.signal
    await expect(made.subagents.cancel(1)).resolves.toBe(false)
    await expect(made.subagents.cancel(3)).resolves.toBe(true)
    await expect(made.subagents.cancel(2)).resolves.toBe(true)
    await expect(made.subagents.cancel(2)).resolves.toBe(false)
    await made.runner.idle()
    expect(signal?.aborted).toBe(true)
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'cancelled', 'cancelled'])
    await expect(refusal(made.subagents.cancel(4))).resolves.toBe('unknown-session')
  })

  it('for good cancels it if it is active, and closes it to queries', async () => {
    const made = await program({
      worker: byTask({ short: () => 'Found.', long: stuck }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await launched(made, 'short', 'long', 'queued')
    await once(made, () => made.sessions()[1]?.status === 'running')
    for (const ref of [3, 2, 1]) {
      await expect(made.subagents.kill(ref)).resolves.toBe(true)
      await expect(made.subagents.kill(ref)).resolves.toBe(false)
    }
    expect(made.sessions()).toMatchObject([
      { status: 'succeeded', closed: true },
      { status: 'cancelled', closed: true },
      { status: 'cancelled', closed: true },
    ])
    for (const ref of [1, 2, 3]) await expect(refusal(made.subagents.query(ref, 'Why?'))).resolves.toBe('not-queryable')
    await expect(made.subagents.collect(1)).resolves.toBe('Found.')
  })

  it('which there is not, for good, is told that there is none', async () => {
    const made = await program()
    for (const ref of [1, '1', 'session-0123456789abcdef', 'ghost', 'session-']) {
      await expect(made.subagents.kill(ref)).resolves.toBe(false)
    }
  })
})
