import { agent, Conversation, defineTool, LastTurn, Limits, scripted, standardSystems, textOf, World } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { simulatedUser, service, simulate, type SimulateOptions } from '../../src/sim/index.ts'

const bank = service(
  () => ({ balance: 100, payments: new Map<string, number>() }),
  ({ request: { sum }, key }: { readonly request: { readonly sum: number }; readonly key: string }, state) => {
    if (sum > state.balance) throw new Error(`There are only ${state.balance}.`)
    if (!state.payments.has(key)) state.balance -= sum
    state.payments.set(key, sum)
    return state.balance
  },
)

/** An agent that pays, if a user agrees, once for each thing that it is told. */
const payer = {
  services: { bank },
  tools: ({ bank: own }) => [
    defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ sum: z.number() }),
      restart: 'keyed',
      approval: true,
      run: async (input, context) => `left: ${await own.call(input, context)}`,
    }),
  ],
  models: {
    script: scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `Paid, ${textOf(last)}.`
      return { toolCalls: [{ name: 'pay', arguments: { sum: Number(textOf(last)) } }] }
    }),
  },
  world(seed) {
    const world = new World({ name: 'payer', seed, systems: standardSystems() })
    const shape = { name: 'pay', description: 'Pays.', input: z.object({ sum: z.number() }), approval: true }
    const pay = defineTool({ ...shape, restart: 'keyed', run: () => '' })
    world.spawn(...agent({ model: 'script/x', tools: [pay], messages: '30' }))
    return world
  },
} satisfies SimulateOptions<{ bank: typeof bank }>

/** Agrees to small sums, and asks for one more thing when the first is done. */
const careful = simulatedUser((seen) => {
  if (seen.type === 'approval-requested') return { approve: true, reason: 'Fine.' }
  if (seen.type === 'turn-ended' && 'tick' in seen && seen.tick < 8) return { say: '20' }
  return undefined
})

describe('a simulated user', () => {
  it('answers what is asked and speaks of themselves, after a while', async () => {
    const { ok, world, virtualMs, trace } = await simulate({ ...payer, users: { ann: careful } })
    expect(ok).toBe(true)
    const said = world.read(1, Conversation).filter(({ role }) => role === 'user')
    expect(said.map((message) => textOf(message))).toEqual(['30', '20'])
    expect(trace.entries.filter(({ type }) => type === 'approval-answered')).toHaveLength(2)
    expect(virtualMs).toBeGreaterThan(1_500)
  })

  it('does each thing once, whatever crashes in between', async () => {
    let crashes = 0
    for (let seed = 1; seed <= 60; seed++) {
      const faults = { crash: { perTick: 0.15 } }
      const result = await simulate({ ...payer, seed, users: { ann: careful }, faults })
      expect(result.violation, `seed ${seed}`).toBeUndefined()
      const said = result.world.read(1, Conversation).filter(({ role }) => role === 'user')
      expect(said.length, `seed ${seed}`).toBeLessThanOrEqual(2)
      expect(result.world.read(1, LastTurn).stop).toBe('done')
      crashes += result.crashes
    }
    expect(crashes).toBeGreaterThan(60)
  })

  it('who is not there agrees to nothing', async () => {
    const { world } = await simulate(payer)
    expect(JSON.stringify(world.read(1, Conversation))).toContain('no approval channel')
  })

  it('may stop an agent', async () => {
    const impatient = simulatedUser(
      (seen) => (seen.type === 'model-called' ? { cancel: 1, reason: 'Too slow.' } : undefined),
      { reactionMs: [10, 20] },
    )
    const { world } = await simulate({ ...payer, users: { bob: impatient } })
    expect(world.read(1, LastTurn).stop).toBe('cancelled')
  })
})

describe('a simulated user who changes the world', () => {
  const doubter = simulatedUser((seen) => {
    if (seen.type !== 'turn-ended') return undefined
    return [
      { change: (world) => world.set(1, Limits, { maxSteps: 7 }) },
      {
        change: (world) => {
          world.set(1, Limits, { maxSteps: 9 })
          throw new Error('On second thoughts, no.')
        },
      },
    ]
  })

  it('changes it as a program does: all of it, or nothing if that throws', async () => {
    const { violation, world, trace } = await simulate({ ...payer, users: { ann: careful, dan: doubter } })
    expect(violation).toBeUndefined()
    expect(world.read(1, Limits).maxSteps).toBe(7)
    const changes = trace.entries.filter(({ facts, type }) => type === 'user-acted' && facts['kind'] === 'change')
    expect(changes).toHaveLength(4)
  })

  it('does so after a crash as well', async () => {
    let crashes = 0
    for (let seed = 1; seed <= 20; seed++) {
      const faults = { crash: { perTick: 0.15 } }
      const result = await simulate({ ...payer, seed, users: { ann: careful, dan: doubter }, faults })
      expect(result.violation, `seed ${seed}`).toBeUndefined()
      expect(result.world.read(1, Limits).maxSteps, `seed ${seed}`).toBe(7)
      crashes += result.crashes
    }
    expect(crashes).toBeGreaterThan(20)
  })
})

describe('a simulated service', () => {
  it('keeps its state over crashes, and is fresh in each run', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const faults = { crash: { perTick: 0.15 } }
      const { services, world } = await simulate({ ...payer, seed, users: { ann: careful }, faults })
      const { balance, payments } = services.bank
      // `keyed`: a call that is made again under the same key pays once.
      expect(100 - balance, `seed ${seed}`).toBe([...payments.values()].reduce((sum, each) => sum + each, 0))
      expect(world.read(1, LastTurn).stop).toBe('done')
    }
  })

  it('that throws fails the call of the tool', async () => {
    const world = (seed: number): World => {
      const made = payer.world(seed)
      made.append(1, Conversation, { role: 'user', content: [{ type: 'text', text: '5000' }] })
      return made
    }
    const { ok, world: last } = await simulate({ ...payer, world, users: { ann: careful } })
    expect(ok).toBe(true)
    expect(JSON.stringify(last.read(1, Conversation))).toContain('There are only 100.')
  })
})
