import type { ByComponent, Delta } from './changes.ts'
import type { Component } from './component.ts'
import type { Json } from '../base/json.ts'
import { readSnapshot } from './restore.ts'
import { World } from './world.ts'

/**
 * A World with those components of a saved one that are known here, as they were saved: values are not checked, and the others are
 * left out. Not to be ticked: what is derived from these components alone is what it was.
 * @throws `corrupt-snapshot`, `newer-version`
 */
export function partOfWorld(lines: Iterable<string>, components: Iterable<Component>): World {
  const { content, head } = readSnapshot(lines)
  const tokens = [...components]
  const world = new World({ name: head.name, seed: head.seed, components: tokens })
  const { core } = world
  for (const line of content) {
    if ('has' in line) {
      core.state.spawn(line.entity)
      for (const [name, value] of Object.entries(line.has)) {
        const token = core.find(name)
        if (token !== undefined) core.state.put(line.entity, token, present(token, value, head.components[name]))
      }
    } else {
      const token = core.find(line.log)
      if (token?.kind === 'log') core.state.append(line.entity, token, line.more)
    }
  }
  core.header = head.header
  return world
}

/** Takes the next tick of such a world. @throws `corrupt-journal` */
export function goOn({ core }: World, delta: Delta): void {
  const known = <T>(rows: ByComponent<T> = {}): ByComponent<T> =>
    Object.fromEntries(Object.entries(rows).filter(([name]) => core.find(name) !== undefined))
  const { appended, despawned, next, removed, set, spawned, spliced, versions } = delta
  const written = Object.entries(known(set)).map(([name, rows]) => {
    const token = core.token(name)
    return [name, rows.map(([entity, value]) => [entity, present(token, value, versions?.[name])] as const)] as const
  })
  core.apply(
    {
      ...(spawned !== undefined && { spawned }),
      ...(despawned !== undefined && { despawned }),
      set: Object.fromEntries(written),
      appended: known(appended),
      spliced: known(spliced),
      removed: known(removed),
      next,
    },
    `tick ${delta.tick} of world '${core.name}'`,
  )
  core.header = delta
}

/** A value of an older version in the present form. Items of logs keep theirs. */
function present(token: Component, value: Json, version = 1): Json {
  if (token.kind !== 'value' || version >= token.version || token.migrate === undefined) return value
  return token.migrate(value, version) as Json
}
