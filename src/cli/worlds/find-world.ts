import type { Store, WorldInfo } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { didYouMean } from '../../base/near-names.ts'
import { readEach, type StoreAt } from '../fleet/fleet-store.ts'
import type { WorldsOutput } from './world-lines.ts'

export interface FoundWorld<S extends Store = Store> extends StoreAt<S> {
  readonly info: WorldInfo
}

interface Sought {
  readonly name: string
  readonly root?: string | undefined
}

/**
 * A world, and which store has it. A root world is looked for first, since for one of a session all worlds are looked through.
 * @throws `no-such-world`, `invalid-argument` where several are called so
 */
export async function findWorld<S extends Store>(
  stores: readonly StoreAt<S>[],
  { name, root }: Sought,
  out: WorldsOutput,
): Promise<FoundWorld<S>> {
  const below = await readEach(stores, out.report, (store) => store.list({ root: root ?? name }))
  const isMeant = (world: WorldInfo): boolean =>
    world.name === name && (root === undefined || (world.root ?? name) === root)
  const direct = below.flatMap(({ from, value }) => value.filter(isMeant).map((info) => ({ ...from, info })))
  const [first] = direct
  if (first !== undefined) return only(first, direct, name)
  const readable = below.map(({ from }) => from)
  const all = await readEach(readable, out.report, (store) => store.list())
  const others = all.flatMap(({ from, value }) =>
    value
      .filter((world) => world.name === name && (root === undefined || world.root === root))
      .map((info) => ({ ...from, info })),
  )
  const [other] = others
  if (other !== undefined) return only(other, others, name)
  const names = new Set(all.flatMap(({ value }) => value.map((world) => world.name)))
  const near = didYouMean(name, names)
  const advice = near || (names.size === 0 ? ' It holds no worlds.' : ' entia worlds list shows what is there.')
  const of = root === undefined ? '' : ` below '${root}'`
  const where = readable.map((store) => store.where).join(' or ')
  throw new EntiaError('no-such-world', `There is no world '${name}'${of} in ${where}.${advice}`, { world: name })
}

/** @throws `invalid-argument` */
function only<S extends Store>(first: FoundWorld<S>, found: readonly FoundWorld<S>[], name: string): FoundWorld<S> {
  if (found.length === 1) return first
  const places = new Set(found.map(({ where }) => where))
  const roots = new Set(found.map(({ info }) => `--root ${JSON.stringify(info.root ?? info.name)}`))
  const advice =
    roots.size > 1
      ? `Name its root world: ${[...roots].join(', ')}.`
      : `Name one of their databases alone: ${[...places].join(', ')}.`
  throw new EntiaError('invalid-argument', `Several worlds are called '${name}'. ${advice}`, { name })
}
