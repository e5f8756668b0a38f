import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, Diary, entry, Person, refusal } from './family.ts'

describe('a component', () => {
  it('called with a value makes an initial component of it: defaults filled in, keys sorted, frozen', () => {
    const House = defineComponent('House', z.strictObject({ street: z.string(), floors: z.number().default(1) }))
    const { token, initial } = House({ street: 'Elm' })
    expect(token).toBe(House)
    expect(JSON.stringify(initial)).toBe('{"floors":1,"street":"Elm"}')
    expect(Object.isFrozen(initial)).toBe(true)
  })

  it('may be given a function that makes its schema, which is called once, at the first need', () => {
    const schemas: z.ZodType<string>[] = []
    const Street = defineComponent('Street', () => (schemas[schemas.length] = z.string()))
    expect(schemas).toEqual([])
    expect(Street('Elm').initial).toBe('Elm')
    expect(() => Street(7 as never)).toThrow(refusal('invalid-value', 'component Street'))
    expect(schemas).toEqual([Street.schema])
  })

  it('has its name, its kind and version 1 unless told otherwise', () => {
    expect([Person, Diary, Asleep].map(({ name, kind, version }) => [name, kind, version])).toEqual([
      ['Person', 'value', 1],
      ['Diary', 'log', 1],
      ['Asleep', 'tag', 1],
    ])
    expect(defineComponent('Car', z.string(), { version: 3 }).version).toBe(3)
  })

  it.for(['person', 'Is Person', '', '__proto__', 'Tool-Call', '7Up'])('cannot be called %j', (name) => {
    for (const define of [
      () => defineTag(name),
      () => defineLog(name, z.string()),
      () => defineComponent(name, z.string()),
    ]) {
      expect(define).toThrow(refusal('invalid-argument', 'PascalCase', `'${name}'`))
    }
  })

  it('refuses a wrong value where it is made, naming itself, the path and what was expected', () => {
    const wrong = { name: 'Ada', age: 'old' } as unknown as { name: string }
    expect(() => Person(wrong)).toThrow(refusal('invalid-value', 'component Person', 'at age', 'expected number'))
  })

  it('refuses a key that its schema does not know instead of dropping it', () => {
    const newer = { name: 'Ada', shoeSize: 37 }
    expect(() => Person(newer)).toThrow(refusal('invalid-value', 'Person', 'shoeSize'))
  })

  it('refuses a value that its schema lets through and JSON cannot say', () => {
    const When = defineComponent('When', z.unknown())
    expect(() => When({ date: new Date(0) })).toThrow(
      refusal('not-json', 'component When at date', 'an instance of Date'),
    )
  })

  it('that is a log checks every item and says which one is wrong', () => {
    const wrong = [entry('fine'), { text: 7 }] as unknown as { text: string }[]
    expect(() => Diary(wrong)).toThrow(refusal('invalid-value', 'Diary, item 1', 'at text', 'expected string'))
    expect(Diary().initial).toEqual([])
  })

  it('shares its name with no other in one world', () => {
    const world = new World({ components: [Person] })
    const Namesake = defineComponent('Person', z.string())
    expect(() => world.spawn(Namesake('Ada'))).toThrow(refusal('duplicate-component', "'Person'", 'rename'))
    expect(() => new World({ components: [Person, Namesake] })).toThrow(refusal('duplicate-component', "'Person'"))
    expect(new World().spawn(Namesake('Ada'))).toBe(1)
  })

  it('has other values in every world', () => {
    const [here, there] = [new World(), new World()]
    const [ada, bob] = [here.spawn(Person({ name: 'Ada' })), there.spawn(Person({ name: 'Bob' }))]
    expect(ada).toBe(bob)
    expect(here.read(ada, Person).name).toBe('Ada')
    expect(there.read(bob, Person).name).toBe('Bob')
    there.despawn(bob)
    expect(here.query(Person)).toEqual([ada])
  })
})

describe('a world', () => {
  it('refuses options that it does not know', () => {
    const options = { sede: 7 } as object
    expect(() => new World(options)).toThrow(refusal('invalid-argument', 'sede', 'name, seed, systems, components'))
  })

  it('that is restored refuses options that it does not know', () => {
    const lines = [...new World().snapshot()]
    const options = { component: [Person] } as object
    expect(() => World.restore(lines, options)).toThrow(refusal('invalid-argument', 'component', 'systems, components'))
  })

  it.for([-1, 0.5, NaN, 2 ** 53])('refuses %d as its seed', (seed) => {
    expect(() => new World({ seed })).toThrow(refusal('invalid-argument', 'seed', String(seed)))
  })
})
