import { agent, scripted, standardSystems, textOf, World } from 'entia'

/** A desk that repeats what it is told. */
export function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk' }))
  return world
}

export const models = {
  desk: scripted(({ messages }) => `Heard: ${messages.map(textOf).at(-1) ?? ''}`),
}
