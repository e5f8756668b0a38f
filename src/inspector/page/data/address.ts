import { signal } from '@preact/signals'

/** What the page shows, as its address says it. */
export interface Address {
  readonly token: string
  readonly world: string | undefined
  /** `live`: the newest, whatever comes. */
  readonly tick: number | 'live'
  readonly view: string
  readonly entity: number | undefined
  /** What a view keeps of its own in the address, such as a query. */
  readonly q: string | undefined
}

export const address = signal<Address>(read())

/** Changes the address. A change of world or view is a step that the browser's `back` takes back. */
export function go(change: Partial<Address>): void {
  const before = address.value
  const now = { ...before, ...change }
  if (Object.keys(change).every((key) => before[key as keyof Address] === now[key as keyof Address])) return
  address.value = now
  const isStep = before.view !== now.view || before.world !== now.world
  history[isStep ? 'pushState' : 'replaceState'](null, '', hrefOf({}))
}

/** The address of another place, for a link. */
export function hrefOf(change: Partial<Address>): string {
  const { entity, q, tick, token, view, world } = { ...address.value, ...change }
  const parts = new URLSearchParams()
  if (world !== undefined) parts.set('world', world)
  parts.set('tick', String(tick))
  parts.set('view', view)
  if (entity !== undefined) parts.set('entity', String(entity))
  if (q !== undefined && q !== '') parts.set('q', q)
  if (token !== '') parts.set('token', token)
  return `#${parts.toString()}`
}

addEventListener('popstate', () => (address.value = read()))
addEventListener('hashchange', () => (address.value = read()))

function read(): Address {
  const parts = new URLSearchParams(location.hash.slice(1))
  const [tick, entity] = [countIn(parts.get('tick')), countIn(parts.get('entity'))]
  return {
    token: parts.get('token') ?? '',
    world: parts.get('world') ?? undefined,
    tick: tick ?? 'live',
    view: parts.get('view') ?? 'sessions',
    entity,
    q: parts.get('q') ?? undefined,
  }
}

/** `undefined`: an address that was written by hand has no such number in it. */
function countIn(text: string | null): number | undefined {
  const count = /^\d+$/.test(text ?? '') ? Number(text) : undefined
  return Number.isSafeInteger(count) ? count : undefined
}
