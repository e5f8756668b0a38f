import { circleIn, type Wait, type WorldWaits } from './waits.ts'
import type { WaitsReply } from './wire-of-many.ts'

/**
 * What many worlds wait for, as the page is told.
 * @param since world times since which a world's effects are open, by entity; `undefined`: not known
 */
export function waitsReply(
  worlds: readonly WorldWaits[],
  since: ReadonlyMap<string, ReadonlyMap<number, number>>,
): Pick<WaitsReply, 'worlds' | 'names' | 'circle'> {
  const dated = (wait: Wait, world: string): Wait => {
    return { ...wait, sinceMs: wait.sinceMs ?? (wait.entity && since.get(world)?.get(wait.entity)) }
  }
  return {
    worlds: inTreeOrder(worlds)
      .filter(({ waits }) => waits.length > 0)
      .map(({ dateMs, hasSlot, nowMs, path, tick, waits, world }) => {
        return { world, tick, nowMs, dateMs, path, hasSlot, waits: waits.map((wait) => dated(wait, world)) }
      }),
    names: Object.assign({}, ...worlds.map(({ names }) => names)) as WaitsReply['names'],
    circle: circleIn(worlds),
  }
}

/** Each behind the one that launched it, those of one in the order in which they came. */
function inTreeOrder(worlds: readonly WorldWaits[]): readonly WorldWaits[] {
  const names = new Set(worlds.map(({ world }) => world))
  const root = worlds.find(({ path }) => path.length === 0)?.world
  const below = Map.groupBy(worlds, ({ path }) => {
    const parent = path.length === 0 ? undefined : (path.at(-2) ?? root)
    return parent !== undefined && names.has(parent) ? parent : undefined
  })
  const ordered: WorldWaits[] = []
  const add = (parent: string | undefined): void => {
    for (const one of below.get(parent) ?? []) {
      ordered.push(one)
      add(one.world)
    }
  }
  add(undefined)
  return ordered
}
