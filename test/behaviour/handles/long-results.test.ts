import { declare, type Entity, memoryStore, type Tool, type World } from 'entia'
import { Handle, Permissions } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { watchedStore } from '../stores/watched-store.ts'
import { behaving, driven, reopened, settled, worldWith } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { giving, numbers, read, readHandle, workshop } from './stored-values.ts'

type Call = { readonly name: string; readonly arguments?: object }

/** Asks for one call a step. Returns what the model read of each. */
async function answers(tools: readonly Tool[], calls: readonly Call[], made = workshop(tools)): Promise<string[]> {
  const { models } = behaving(({ messages }) => {
    const next = calls[messages.filter(({ role }) => role === 'tool').length]
    return next === undefined ? 'Done.' : { toolCalls: [next] as never }
  })
  await settled(made.world, { models, tools: [...tools, readHandle] })
  return results(made.world, made.agent)
}

function results(world: World, agent: Entity): string[] {
  const lines = transcript(world, agent).filter((line) => line.startsWith('tool '))
  return lines.map((line) => line.replace(/^tool [^:!]*(!?): /, '$1'))
}

const give = { name: 'give' }

describe('a JSON result', () => {
  it('of 50 numbers is inline, one of 51 goes to a handle', async () => {
    expect(await answers([giving(numbers(50))], [give])).toEqual([JSON.stringify(numbers(50))])
    expect(await answers([giving(numbers(51))], [give])).toEqual([
      'list of 51 numbers: 1, 2, 3, 4, 5, 6, 7, 8, …\n[stored as .h_001]',
    ])
  })

  it('is read back by its handle', async () => {
    const [, head, print] = await answers(
      [giving(numbers(51))],
      [give, read('.h_001', { op: 'head' }), read('.h_001', { op: 'print', offset: 49 })],
    )
    expect(head).toBe(`${numbers(20).join('\n')}\n[elements 1-20 of 51; read on with op=print, offset=20]`)
    expect(print).toBe('50\n51\n[elements 50-51 of 51]')
  })

  it('counts as it is, not as a text: over 10 entries that are not all scalars go to a handle', async () => {
    const rows = (count: number) => numbers(count).map((id) => ({ id }))
    expect(await answers([giving(rows(10))], [give])).toEqual([JSON.stringify(rows(10))])
    expect(await answers([giving(rows(11))], [give])).toEqual(['table of 11 rows: id number\n[stored as .h_001]'])
  })

  it('of an agent without a workspace, or without read_handle, is inline', async () => {
    const whole = [JSON.stringify(numbers(51))]
    const tools = [giving(numbers(51))]
    expect(await answers(tools, [give], worldWith({ tools: [...tools, readHandle] }))).toEqual(whole)
    const without = workshop(tools)
    without.world.add(without.agent, Permissions({ denied: ['read_handle'] }))
    expect(await answers(tools, [give], without)).toEqual(whole)
    expect(without.world.query(Handle)).toEqual([])
  })
})

describe('a text', () => {
  it('of 50,000 characters has no note, one of 170,000 says how much is missing, and the handle that has all', async () => {
    expect(await answers([giving('x'.repeat(50_000))], [give])).toEqual(['x'.repeat(50_000)])
    const text = `${'x'.repeat(49_999)}\n${'😀\n'.repeat(40_000)}`
    const [shown, summary] = await answers([giving(text)], [give, read('.h_001', { op: 'summary' })])
    expect(shown).toBe(`${text.slice(0, 50_000)}\n[120000 characters left out; all of it: .h_001]`)
    expect(summary).toBe('text: 40001 lines, 170000 characters, 250000 bytes; longest line: 49999 characters')
  })

  it('is not cut within a code point', async () => {
    const [shown] = await answers([giving(`${'x'.repeat(49_999)}😀😀`)], [give])
    expect(shown).toBe(`${'x'.repeat(49_999)}\n[4 characters left out; all of it: .h_001]`)
  })

  it('without a workspace is cut, and no handle is named', async () => {
    const tools = [giving('x'.repeat(50_001))]
    const [shown] = await answers(tools, [give], worldWith({ tools }))
    expect(shown).toBe(`${'x'.repeat(50_000)}\n[1 characters left out]`)
  })

  it('is cut without a handle where the disk has no room for it', async () => {
    const inner = memoryStore()
    const store = { ...watchedStore(inner, {}), putText: () => Promise.reject(new Error('disk full')) }
    const tools = [giving('x'.repeat(50_001))]
    const { world, agent } = workshop(tools)
    const { models } = behaving(({ messages }) =>
      messages.length > 1 ? 'Done.' : { toolCalls: [{ name: 'give', arguments: {} }] },
    )
    await settled(world, { models, store, tools: [...tools, readHandle] })
    expect(results(world, agent)).toEqual([`${'x'.repeat(50_000)}\n[1 characters left out]`])
  })
})

describe('a handle', () => {
  it('that there is not is answered with those that there are', async () => {
    const [none, , unknown] = await answers([giving(numbers(60))], [read('.h_001'), give, read('.h_7')])
    expect(none).toBe('!Error: there is no handle .h_001, nothing is stored yet.')
    expect(unknown).toBe(
      '!Error: there is no handle .h_7. There are:\n.h_001 list of 60 numbers: 1, 2, 3, 4, 5, 6, 7, 8, …',
    )
  })

  it('is not read by an unknown operation: the answer lists those there are', async () => {
    const [, answer] = await answers([giving(numbers(60))], [give, read('.h_001', { op: 'tail' })])
    expect(answer).toMatch(/^!Error: Invalid arguments for 'read_handle': op: .*str.*head.*summary.*print/)
  })

  it('of a value that run_js alone has is noted as live, and lost after a restart', async () => {
    const live = tool('live', async ({ handles }) => handles?.keepLive('function\nf(x)'))
    const store = memoryStore()
    const made = workshop([live])
    const behaviour = behaving(({ messages }) => {
      const count = messages.filter(({ role }) => role === 'tool').length
      return messages.at(-1)?.role === 'tool' && count !== 1
        ? 'Done.'
        : { toolCalls: [count === 0 ? { name: 'live', arguments: {} } : read('.h_001')] }
    })
    const options = { models: behaviour.models, tools: [live, readHandle], store }
    await settled(made.world, options)
    expect(results(made.world, made.agent)).toEqual([
      '.h_001',
      "!Error: .h_001 is a value in run_js; look at it there with h('.h_001').",
    ])
    expect(made.world.entitiesWith(Handle).map((handle) => made.world.read(handle, Handle).shape)).toEqual([
      'function f(x)',
    ])
    const again = await reopened(store, { models: behaviour.models, tools: [live, readHandle] })
    await again.runner.start()
    await again.runner.message(made.agent, 'Once more')
    await again.runner.idle()
    expect(results(again.world, made.agent)[2]).toBe(
      '!Error: .h_001 is lost: run_js, which had its value, was started anew.',
    )
  })
})

describe('handles', () => {
  it('count on behind .h_999, and each costs what the first did', async () => {
    const bytes: number[] = []
    const store = watchedStore(memoryStore(), {
      after: (ticks) => {
        for (const { delta, inputs } of ticks) {
          if (inputs.some(({ kind }) => kind === 'handle-kept')) bytes.push(JSON.stringify(delta).length)
        }
      },
    })
    const batch = 100
    const many = tool('many', async ({ handles }) => {
      const names: (string | undefined)[] = []
      for (let count = 0; count < batch; count++) names.push(await handles?.keep(count))
      return names.at(-1)
    })
    const { world, agent } = workshop([many])
    const { models } = behaving(({ messages }) => {
      return messages.length > 1
        ? 'Done.'
        : { toolCalls: Array.from({ length: 11 }, () => ({ name: 'many', arguments: {} })) }
    })
    const { runner } = driven(world, { models, tools: [many, readHandle], store })
    await runner.start()
    await runner.idle()
    const names = world.query(Handle).map((handle) => world.read(handle, Handle).number)
    expect(names.toSorted((a, b) => a - b)).toEqual(numbers(1_100))
    expect(results(world, agent).at(-1)).toBe('.h_1100')
    expect(bytes.at(-1)).toBeLessThan(3 * (bytes[0] as number))
  })

  it('are given in the order of the calls, also where one call keeps several at once', async () => {
    const several = tool('several', async ({ handles }) =>
      Promise.all(['a'.repeat(100), 'b', 'c'].map(async (value) => handles?.keep(value))),
    )
    expect(await answers([several], [{ name: 'several' }])).toEqual(['[".h_001",".h_002",".h_003"]'])
  })
})

describe('read_handle', () => {
  it('is declared for a policy as what reads no path', () => {
    expect(declare(readHandle)[0]).toMatchObject({ category: 'data', operation: 'read', paths: [], restart: 'pure' })
  })
})
