import { agent, type AskPart, standardSystems, World } from 'entia'
import { defineFleet, type Fleet } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { Pen } from '../../behaviour/fleet/pen.ts'
import { newSchema, storeIn } from './stores.ts'

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'pen/clerk' }))
  return world
}

/** A process of the fleet of a schema. */
function processIn(schema: string, pen = new Pen()): Fleet {
  const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, models: { pen } })
  onTestFinished(() => fleet.close())
  return fleet
}

/** Reads parts up to the first of a type. */
async function until(parts: AsyncIterator<AskPart>, type: AskPart['type']): Promise<AskPart> {
  for (;;) {
    const { done, value } = await parts.next()
    if (done === true) throw new Error(`There is no ${type} in the turn.`)
    if (value.type === type) return value
  }
}

const counts = (store: Fleet['store'], schema: string) => async (): Promise<unknown> =>
  store.transaction(async (client) => {
    const of = (table: string): string => `(SELECT count(*)::integer FROM ${schema}.${table}) AS ${table}`
    return (await client.query(`SELECT ${of('watches')}, ${of('streams')}`)).rows[0]
  })

describe('text that a model writes in a worker', () => {
  it('is read in other processes before it is committed, from its beginning wherever they come in', async () => {
    const schema = newSchema()
    const pen = new Pen()
    const [front, second, worker] = [processIn(schema), processIn(schema), processIn(schema, pen)]
    await worker.work()
    const asked = front.agent('desk/1').ask('Write.')
    const writing = await pen.next()
    writing.write('Once ')
    expect(await until(asked.parts, 'text')).toEqual({ type: 'text', text: 'Once ' })
    expect(await until(second.agent('desk/1').attach().parts, 'text')).toEqual({ type: 'text', text: 'Once ' })
    writing.write('upon a time.')
    writing.end()
    expect((await asked).text).toBe('Once upon a time.')
    // A call that is over leaves nothing.
    await expect.poll(counts(worker.store, schema)).toMatchObject({ streams: 0 })
  })

  it('is void where the worker dies, and another worker makes the call again', async () => {
    const schema = newSchema()
    const [pen, other] = [new Pen(), new Pen()]
    const front = processIn(schema)
    const first = await processIn(schema, pen).work()
    const { parts } = front.agent('desk/1').ask('Write.')
    const writing = await pen.next()
    writing.write('Once ')
    await until(parts, 'text')
    await first.stop()
    await processIn(schema, other).work()
    const again = await other.next()
    again.write('Twice ')
    expect(await until(parts, 'discarded')).toEqual({ type: 'discarded' })
    expect(await until(parts, 'text')).toEqual({ type: 'text', text: 'Twice ' })
    again.end()
    expect(await until(parts, 'end')).toMatchObject({ answer: { text: 'Twice ' } })
  })

  it('goes with the sweep, some time after the last reader has left', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const { streams } = store
    const text = { world: 'desk/1', epoch: 1, effect: 1, attempt: 1, first: 0, next: 1, line: '["Once"]' }
    await streams?.watch([{ world: 'desk/1', after: 0 }])
    const [number] = (await streams?.watched([{ world: 'desk/1' }])) ?? []
    await streams?.write([text])
    await store.sweep()
    expect(await streams?.watch([{ world: 'desk/1', after: 0 }])).toMatchObject([[{ line: '["Once"]' }]])
    const ago = (time: string): Promise<unknown> =>
      store.transaction((client) => client.query(`UPDATE ${schema}.watches SET until = until - interval '${time}'`))
    await ago('10 seconds')
    expect(await streams?.watched([{ world: 'desk/1' }])).toEqual([undefined])
    await store.sweep()
    expect(await counts(store, schema)()).toEqual({ watches: 1, streams: 1 })
    // Who comes now watches anew, so that the holder of the world writes all of it.
    const late = storeIn(schema)
    await late.streams?.watch([{ world: 'desk/1', after: 0 }])
    expect(await streams?.watched([{ world: 'desk/1' }])).not.toEqual([number])
    await ago('1 minute')
    await store.sweep()
    expect(await counts(store, schema)()).toEqual({ watches: 0, streams: 0 })
  })
})
