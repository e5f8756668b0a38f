import { type EventPlace, Runner, standardSystems, type Store, type World } from 'entia'
import * as components from 'entia/components'

/** An event as a journal has it, and where. */
export interface KeptEvent {
  readonly type: string
  readonly sessionId?: string
  readonly place: string
}

const systems = standardSystems()

/** All worlds that a store has of one root, that first. Nobody drives them. */
export async function worldsIn(store: Store, root: string): Promise<readonly World[]> {
  const worlds: World[] = []
  for (const name of await namesIn(store, root)) {
    const runner = await Runner.open({ store: rooted(store, root), name, systems, components })
    await runner.stop()
    worlds.push(runner.world)
  }
  return worlds
}

/** All that those worlds have told. */
export async function eventsIn(store: Store, root: string): Promise<readonly KeptEvent[]> {
  const events: KeptEvent[] = []
  for (const world of await namesIn(store, root)) {
    const journal = await rooted(store, root).open(world)
    const { rows = [] } = (await journal.load()) ?? {}
    await journal.close()
    for (const { tick, line } of rows) {
      const { e } = JSON.parse(line.slice(line.indexOf(' '))) as { readonly e: readonly Omit<KeptEvent, 'place'>[] }
      events.push(...e.map((event, index) => ({ ...event, place: placeOf({ world, tick, index }) })))
    }
  }
  return events
}

async function namesIn(store: Store, root: string): Promise<readonly string[]> {
  const names = (await store.list()).map((info) => info.name).toSorted()
  return [...names.filter((one) => one === root), ...names.filter((one) => one !== root)]
}

function rooted(store: Store, root: string): Store {
  return { ...store, open: (world, options) => store.open(world, { ...options, root }) }
}

/** What tells an event from all others, and is the same when it is told again. */
export function placeOf({ world, tick, index }: Pick<EventPlace, 'world' | 'tick' | 'index'>): string {
  return `${world} ${tick} ${index}`
}
