import {
  agent,
  type Component,
  defineComponent,
  type EntiaErrorCode,
  type Initial,
  scripted,
  standardSystems,
  textOf,
  World,
} from 'entia'
import { defineFleet, type Fleet } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { desk, models } from './desk.ts'
import { newSchema, storeIn } from './stores.ts'

const Note1 = defineComponent('Note', z.strictObject({ text: z.string() }))
const Note2 = defineComponent('Note', z.strictObject({ lines: z.array(z.string()) }), {
  version: 2,
  migrate: (value) => ({ lines: [(value as { readonly text: string }).text] }),
})

/** A process whose answers say which it is. */
function processOf(
  schema: string,
  name: string,
  components: readonly Component[],
  parts: () => readonly Initial[] = () => [],
): Fleet {
  const make = (named: string): World => {
    const world = new World({ name: named, systems: standardSystems() })
    world.spawn(...agent({ model: 'desk/clerk' }), ...parts())
    return world
  }
  const fleet = defineFleet({
    database: inject('postgres'),
    schema,
    worlds: { desk: make },
    components,
    models: { desk: scripted(({ messages }) => `${name} heard ${messages.map(textOf).at(-1)}`) },
    idleMs: 0,
  })
  onTestFinished(() => fleet.close())
  return fleet
}

describe('a worker whose components', { timeout: 60_000 }, () => {
  it.each([
    ['are of an older version', [Note1], 'newer-version'],
    ['are not all there', [], 'unknown-component'],
  ] as const)('%s leaves a world alone that a newer one has had, and that one drives it', async (_, has, code) => {
    const schema = newSchema()
    const first = processOf(schema, 'old', [Note1], () => [Note1({ text: 'kept' })])
    const one = await first.work()
    expect((await first.agent('desk/1').ask('a')).text).toBe('old heard a')
    await one.stop()
    const renewed = processOf(schema, 'new', [Note2], () => [Note2({ lines: [] })])
    const two = await renewed.work()
    expect((await renewed.agent('desk/1').ask('b')).text).toBe('new heard b')
    const refused = Promise.withResolvers<EntiaErrorCode | undefined>()
    const codes: (EntiaErrorCode | undefined)[] = []
    await processOf(schema, 'old', has).work({
      unfit: (world, its) => {
        codes.push(its)
        refused.resolve(its)
      },
    })
    for (const said of ['c', 'd', 'e']) expect((await renewed.agent('desk/1').ask(said)).text).toBe(`new heard ${said}`)
    await two.stop()
    const late = renewed.agent('desk/1').ask('f')
    expect(await refused.promise).toBe(code)
    await renewed.work()
    expect((await late).text).toBe('new heard f')
    expect(new Set(codes)).toEqual(new Set([code]))
    expect((await renewed.store.list()).map(({ quarantine }) => quarantine)).toEqual([undefined])
  })
})

describe('a newer Entia that brings the tables up to date under load', { timeout: 60_000 }, () => {
  it('is not noticed by workers that are there, and older ones that come are refused', async () => {
    const schema = newSchema()
    const open = () => {
      const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, models, idleMs: 0 })
      onTestFinished(() => fleet.close())
      return fleet
    }
    const front = open()
    const old = await open().work()
    const names = ['desk/1', 'desk/2', 'desk/3']
    const asked = async (said: string) => {
      const answers = names.map(async (name) => (await front.agent(name).ask(said)).text)
      expect(await Promise.all(answers)).toEqual(names.map(() => `Heard: ${said}`))
    }
    await asked('before')
    const store = storeIn(schema)
    const version = async (to: string): Promise<void> => {
      await store.transaction((client) => client.query(`UPDATE ${schema}.format SET version = ${to}`))
    }
    const during = asked('during')
    await version('version + 1')
    await during
    await asked('after')
    await expect(open().work()).rejects.toMatchObject({ code: 'newer-version' })
    await expect(open().agent('desk/1').ask('Hello?')).rejects.toMatchObject({ code: 'newer-version' })
    // Those that come now are of the newer version.
    await version('version - 1')
    await open().work()
    await old.stop()
    await asked('with the new ones')
  })
})
