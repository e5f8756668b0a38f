import fc from 'fast-check'
import { EntiaError } from '../../src/base/entia-error.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, entry, Fresh, Likes, Person } from './family.ts'

/** Something that somebody does, as data: who, to whom, and a number and a text to do it with. */
export type Action = JsonObject & {
  readonly does: string
  readonly who: number
  readonly whom: number
  readonly n: number
  readonly text: string
}

type Deed = (world: World, who: Entity, whom: Entity, action: Action) => void

/** Every kind of write, alone and in combinations that undo or repeat each other. */
const deeds: Readonly<Record<string, Deed>> = {
  spawn: (world, who, whom, { n, text }) => {
    const parts = [Person({ name: text }), Diary([entry(text)]), Asleep(), ChildOf({ parent: who }), Likes({ whom })]
    world.spawn(...parts.filter((_, index) => (n & (1 << index)) !== 0))
  },
  despawn: (world, who) => world.despawn(who),
  comeAndGo: (world, who) => world.despawn(world.spawn(ChildOf({ parent: who }), Diary())),
  name: (world, who, _, { text }) => world.set(who, Person, { name: text }),
  age: (world, who, _, { n }) => world.has(who, Person) && world.patch(who, Person, { age: n }),
  forget: (world, who) => world.remove(who, Person),
  rename: (world, who, _, { text }) => {
    world.remove(who, Person)
    world.add(who, Person({ name: text }))
  },
  copy: (world, who, whom) => {
    const value = world.get(whom, Person)
    if (value !== undefined) world.set(who, Person, value)
  },
  quote: (world, who, _, action) => world.set(who, Person, { name: 'quoted', about: { action: { ...action } } }),
  dice: (world, who) => world.set(who, Person, { name: world.newId('person'), age: world.random() }),
  write: (world, who, _, { n, text }) =>
    world.append(
      who,
      Diary,
      ...Array.from({ length: n % 4 }, (__, index) => ({ text, secret: (index + n) % 2 === 0 })),
    ),
  edit: (world, who, _, { n, text }) => {
    const length = world.get(who, Diary)?.length
    if (length !== undefined) world.splice(who, Diary, n % (length + 1), n % 3, n % 2 === 0 ? [] : [entry(text)])
  },
  rewrite: (world, who, _, { n, text }) => world.rewrite(who, Diary, Array(n % 3).fill(entry(text))),
  burn: (world, who) => world.remove(who, Diary),
  replaceDiary: (world, who, _, { n, text }) => {
    world.remove(who, Diary)
    world.add(who, Diary(Array(n % 4).fill(entry(text))))
  },
  sleep: (world, who) => world.add(who, Asleep),
  wake: (world, who) => world.remove(who, Asleep),
  turn: (world, who) => {
    world.remove(who, Asleep)
    world.add(who, Asleep)
  },
  read: (world, who) => world.remove(who, Fresh),
  adopt: (world, who, whom) => world.set(who, ChildOf, { parent: whom }),
  leave: (world, who) => world.remove(who, ChildOf),
  like: (world, who, whom, { n }) => world.set(who, Likes, { whom, since: n }),
  part: (world, who) => world.remove(who, Likes),
  blunder: (world, who) => {
    try {
      world.spawn(Person({ name: 'half' }), Diary([entry('made')]), Likes({ whom: who + 1_000_000 }))
    } catch (error) {
      if (!(error instanceof EntiaError)) throw error
    }
  },
}

/** Does all the actions that come in, then what it was told to fail with. */
export const acting: System = {
  name: 'acting',
  priority: 0,
  run: (world) => {
    for (const { actions = [], fails } of world.inputs) {
      act(world, actions as readonly Action[])
      if (fails === true) throw new Error('it was told to fail')
    }
  },
}

export function act(world: World, actions: readonly Action[]): void {
  for (const action of actions) {
    const alive = world.entities()
    const who = alive[action.who % alive.length] ?? world.spawn()
    deeds[action.does]?.(world, who, alive[action.whom % alive.length] ?? who, action)
  }
}

const action = fc.record({
  does: fc.constantFrom('spawn', 'spawn', 'spawn', ...Object.keys(deeds)),
  who: fc.nat(40),
  whom: fc.nat(40),
  n: fc.nat(31),
  text: fc.constantFrom('a', 'b', '$in', '__proto__', 'ü\u{1F600}'),
})

/** What somebody does at a time. */
export const someActions: fc.Arbitrary<Action[]> = fc.array(action, { maxLength: 8 })

/** Inputs of some ticks, some of which fail when all is done. */
export const someTicks: fc.Arbitrary<Input[]> = fc.array(
  fc.record({
    kind: fc.constant('act'),
    actions: someActions,
    fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  }),
  { maxLength: 12 },
)
