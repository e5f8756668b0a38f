import { agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions, type PostgresStore } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { abilitiesText } from '../../../src/doors/postgres/known-workers.ts'
import { PostgresBoard } from '../../../src/doors/postgres/postgres-board.ts'
import { tool } from '../../behaviour/turns/tools.ts'
import { newSchema, storeIn } from './stores.ts'

const chief = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `It said: ${textOf(last)}`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'turner', prompt: 'Turn a wheel.' } }] }
})

const turner = scripted(({ messages }) => {
  const last = messages.at(-1)
  return last?.role === 'tool' ? textOf(last) : { toolCalls: [{ name: 'lathe' }] }
})

const lathe = tool('lathe', () => 'turned')

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'office/chief' }),
    SubagentRegistry({ subagents: { turner: { name: 'turner', model: 'turning/x', tools: ['lathe'] } } }),
  )
  return world
}

/** A process of the fleet of a schema. */
function processIn(schema: string, options: Partial<FleetOptions>): Fleet {
  const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, ...options })
  onTestFinished(() => fleet.close())
  return fleet
}

function boardOver(store: PostgresStore): PostgresBoard {
  return new PostgresBoard({
    store,
    dispatcher: store.line,
    kinds: ['desk'],
    maxSessions: 10,
    maxSessionsPerTenant: 10,
    tenantOf: (root) => root,
    quarantined: () => undefined,
  })
}

function saying(name: string, description: string): string {
  const { declaration } = tool(name, () => 'done', { description })
  return abilitiesText({ worlds: ['desk'], tools: new Map([[name, declaration]]), providers: new Set([`of ${name}`]) })
}

async function run(store: PostgresStore, text: string, values: readonly unknown[]): Promise<void> {
  await store.transaction((client) => client.query(text, values))
}

describe('a session whose tool and provider only another worker has', () => {
  it('is launched by one that lacks them, and ends well on the one that has them', async () => {
    const schema = newSchema()
    const first = processIn(schema, { models: { office: chief } })
    const other = processIn(schema, { models: { turning: turner }, tools: [lathe] })
    await other.work({ worlds: 0 })
    await first.work()
    const world = first.agent('desk/1')
    expect((await world.ask('Go on.')).text).toBe('It said: turned')
    expect(await world.sessions()).toMatchObject([{ status: 'succeeded' }])
  })

  it('fails where no worker has them', async () => {
    const schema = newSchema()
    const first = processIn(schema, { models: { office: chief } })
    await first.work()
    const { text } = await first.agent('desk/1').ask('Go on.')
    expect(text).toBe("It said: Error: Subagent 'turner' failed: Unknown model 'turning/x'")
  })
})

describe('what a worker can', () => {
  it('is known to all, as the oldest worker declares it', async () => {
    const schema = newSchema()
    const [old, renewed, asks] = [storeIn(schema), storeIn(schema), storeIn(schema)]
    await old.enter(saying('lathe', 'Turns wood.'))
    await renewed.enter(saying('lathe', 'Turns metal.'))
    await asks.enter(saying('saw', 'Cuts.'))
    const { has } = await boardOver(asks).state()
    expect([...has.tools].map(([name, { description }]) => [name, description])).toEqual(
      expect.arrayContaining([
        ['lathe', 'Turns wood.'],
        ['saw', 'Cuts.'],
      ]),
    )
    expect([...has.providers].toSorted()).toEqual(['of lathe', 'of saw'])
  })

  it('is read once, and again where another has come', async () => {
    const schema = newSchema()
    const [store, asks] = [storeIn(schema), storeIn(schema)]
    const me = await asks.enter(saying('saw', 'Cuts.'))
    const id = await store.enter(saying('lathe', 'Turns.'))
    const board = boardOver(asks)
    const { has } = await board.state()
    const said = await asks.peers.state()
    await run(asks, `UPDATE ${schema}.workers SET can = $1`, [Buffer.from('read again')])
    expect((await asks.peers.state()).workers).toEqual(said.workers)
    expect((await board.state()).has).toBe(has)
    // One that is gone is forgotten.
    await run(asks, `UPDATE ${schema}.workers SET lease_ms = 0 WHERE id = $1`, [id])
    expect((await asks.peers.state()).workers.map((worker) => worker.id)).toEqual([me])
    expect([...(await board.state()).has.tools.keys()]).toEqual(['saw'])
    await run(asks, `UPDATE ${schema}.workers SET lease_ms = 10000 WHERE id = $1`, [id])
    expect((await asks.peers.state()).workers).toContainEqual({ id, can: 'read again' })
  })

  it('is not written with each beat, and written again where the row of the worker was removed', async () => {
    const schema = newSchema()
    const [store, asks] = [storeIn(schema, { leaseMs: 1_000 }), storeIn(schema)]
    const can = saying('lathe', 'Turns.')
    const id = await store.enter(can)
    const rowOf = async () => {
      const { rows } = await asks.transaction((client) =>
        client.query(`SELECT can, seen > to_timestamp(0) AS has_beaten FROM ${schema}.workers WHERE id = $1`, [id]),
      )
      return { can: String(rows[0]?.['can']), hasBeaten: rows[0]?.['has_beaten'] }
    }
    const other = [Buffer.from('else'), id]
    await run(asks, `UPDATE ${schema}.workers SET can = $1, seen = to_timestamp(0) WHERE id = $2`, other)
    await expect.poll(rowOf).toEqual({ can: 'else', hasBeaten: true })
    await run(asks, `DELETE FROM ${schema}.workers WHERE id = $1`, [id])
    await expect.poll(rowOf, { timeout: 5_000 }).toEqual({ can, hasBeaten: true })
  })

  it.each([
    ['in names alone, as an older package', JSON.stringify({ worlds: ['desk'], tools: ['lathe'] })],
    ['in no JSON', 'lathe'],
  ])('and says %s, is nothing that is known here', async (_, text) => {
    const schema = newSchema()
    const [old, asks] = [storeIn(schema), storeIn(schema)]
    await old.enter(text)
    await asks.enter(saying('saw', 'Cuts.'))
    const { has, workers } = await boardOver(asks).state()
    expect([...has.tools.keys()]).toEqual(['saw'])
    expect([...has.providers]).toEqual(['of saw'])
    expect(workers.count).toBe(2)
  })

  it('is known but for a tool whose declaration no world could have', async () => {
    const schema = newSchema()
    const asks = storeIn(schema)
    const { tools, ...others } = JSON.parse(saying('saw', 'Cuts.')) as { readonly tools: readonly object[] }
    await asks.enter(JSON.stringify({ ...others, tools: [...tools, { ...tools[0], name: 'a saw' }] }))
    const { has } = await boardOver(asks).state()
    expect([...has.tools.keys()]).toEqual(['saw'])
  })
})
