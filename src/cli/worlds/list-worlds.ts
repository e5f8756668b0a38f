import type { WorldInfo } from '../../stores/port.ts'
import { plainText } from '../../tools/files/clean-text.ts'
import { databaseColumn, readEach, type StoreAt } from '../fleet/fleet-store.ts'
import { many } from '../terminal/amounts.ts'
import { tableLines } from '../table-lines.ts'
import { dueText, ownerText, sizeText, type WorldsOutput, writeLines } from './world-lines.ts'

interface ListOptions {
  readonly prefix: string
  /** Worlds of sessions have lines of their own. */
  readonly isAll: boolean
  /** At most so many root worlds. @default those that people read; JSON has all */
  readonly limit: number | undefined
}

/** Root worlds that are shown where nothing else is said. */
const defaultLimit = 200

/** A root world with what belongs to its sessions, or a world of its own. */
type Listed = WorldInfo & {
  /** Worlds of its sessions that are counted with it. */
  readonly sessions?: number
  /** Where there are several. */
  readonly database?: string
}

/** `entia worlds list`: returns the exit code. @throws what listing throws, where no store can be read */
export async function listWorlds(stores: readonly StoreAt[], options: ListOptions, out: WorldsOutput): Promise<number> {
  const { isAll, prefix } = options
  const limit = options.limit ?? (out.isJson ? Infinity : defaultLimit)
  // One more says that there are more.
  const most = limit === Infinity || prefix !== '' ? {} : { limit: limit + 1 }
  const read = await readEach(stores, out.report, (store) => store.list(most))
  const matching = read.map(({ from, value }) => ({
    at: databaseColumn(stores, from),
    worlds: value.filter(({ name, root = name }) => root.startsWith(prefix)),
  }))
  const roots = matching.flatMap(({ worlds }, place) =>
    [...new Set(worlds.map(({ name, root = name }) => root))].map((root) => ({ place, root })),
  )
  const kept = roots.toSorted((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)).slice(0, limit)
  const listed = inOrder(
    matching.flatMap(({ at, worlds }, place): readonly Listed[] => {
      const its = new Set(kept.flatMap((one) => (one.place === place ? one.root : [])))
      const shown = worlds.filter(({ name, root = name }) => its.has(root))
      return (isAll ? shown : withSessions(shown)).map((world) => ({ ...at, ...world }))
    }),
  )
  const more = roots.length > kept.length ? `… and more; --limit ${2 * kept.length} shows more of them` : undefined
  const count = read.reduce((sum, { value }) => sum + value.length, 0)
  if (out.isJson) for (const world of listed) out.write(`${JSON.stringify(jsonOf(world))}\n`)
  else if (listed.length > 0)
    writeLines([...rowsOf(listed, isAll, out), ...(more === undefined ? [] : [out.look.paint('dim', more)])], out)
  else out.write(prefix === '' ? `There is no world in ${out.where} yet.\n` : noneText(prefix, count, out.where))
  return read.length === stores.length ? 0 : 1
}

function noneText(prefix: string, others: number, where: string): string {
  return `No world in ${where} has a name that begins with '${prefix}'; it holds ${many(others, 'world')}.\n`
}

/** With the error as its code and what it says. */
export function jsonOf({ unreadable, ...world }: Listed): object {
  return unreadable === undefined
    ? world
    : { ...world, unreadable: { code: unreadable.code, message: unreadable.message } }
}

const byName = new Intl.Collator('en', { numeric: true })

/** By name, numbers by their value; each root world before those of its sessions; of the same name, by their databases. */
function inOrder<T extends Listed>(worlds: readonly T[]): readonly T[] {
  return worlds.toSorted(
    (a, b) =>
      byName.compare(a.root ?? a.name, b.root ?? b.name) ||
      byName.compare(a.database ?? '', b.database ?? '') ||
      depthOf(a) - depthOf(b) ||
      byName.compare(a.name, b.name),
  )
}

function depthOf({ root }: WorldInfo): number {
  return root === undefined ? 0 : 1
}

function withSessions(worlds: readonly WorldInfo[]): readonly Listed[] {
  const below = new Map<string, WorldInfo[]>()
  for (const world of worlds) if (world.root !== undefined) grouped(below, world.root).push(world)
  const roots = worlds.filter(({ root }) => root === undefined)
  const names = new Set(roots.map(({ name }) => name))
  // A root of which only sessions were ever written.
  const missing = [...below.keys()].filter((name) => !names.has(name))
  const empty = missing.map((name): WorldInfo => ({ name, tick: undefined, sizeBytes: 0 }))
  return [...roots, ...empty].map((world) => {
    const own = below.get(world.name) ?? []
    const letters = own.reduce((sum, each) => sum + (each.letters ?? 0), world.letters ?? 0)
    const heldBy = world.heldBy ?? own.find((each) => each.heldBy !== undefined)?.heldBy
    return {
      ...world,
      ...(heldBy !== undefined && { heldBy }),
      ...(letters > 0 && { letters }),
      sizeBytes: own.reduce((sum, each) => sum + (each.sizeBytes ?? 0), world.sizeBytes ?? 0),
      sessions: own.length,
    }
  })
}

function grouped(groups: Map<string, WorldInfo[]>, key: string): WorldInfo[] {
  const group = groups.get(key) ?? []
  groups.set(key, group)
  return group
}

function rowsOf(worlds: readonly Listed[], isAll: boolean, { look, nowMs }: WorldsOutput): readonly string[] {
  const head = [
    'WORLD',
    'STATE',
    'TICK',
    'SIZE',
    ...(isAll ? [] : ['SESSIONS']),
    'LETTERS',
    'DUE',
    'DATABASE',
    'HELD BY',
  ]
  const rows = worlds.map((world) => [
    `${world.root === undefined ? '' : '  '}${world.name}`,
    stateText(world),
    world.tick === undefined ? '' : String(world.tick),
    sizeText(world.sizeBytes ?? 0),
    ...(isAll ? [] : [world.sessions === 0 ? '' : String(world.sessions)]),
    world.letters === undefined ? '' : String(world.letters),
    world.wakeAtMs === undefined ? '' : dueText(world.wakeAtMs, nowMs),
    world.database ?? '',
    world.heldBy === undefined ? '' : ownerText(world.heldBy, nowMs),
  ])
  // A column that is empty in all rows says nothing.
  const isUsed = head.map((_, at) => at < 2 || rows.some((row) => row[at] !== ''))
  const [first = '', ...lines] = tableLines([head, ...rows].map((row) => row.filter((_, at) => isUsed[at])))
  return [
    look.paint('dim', first),
    ...lines.flatMap((line, at) => {
      const { heldBy, isBusy, isParked, quarantine, unreadable } = worlds[at] as Listed
      if (unreadable !== undefined)
        return [look.paint('red', line), look.paint('red', `  ${plainText(unreadable.message)}`)]
      if (quarantine !== undefined) return [look.paint('red', line), look.paint('red', `  ${plainText(quarantine)}`)]
      if (isBusy === true && heldBy === undefined && isParked !== true) return [look.paint('yellow', line)]
      return [heldBy === undefined ? line : look.paint('bold', line)]
    }),
  ]
}

/** `quarantine`: nobody drives it until it is released; `waiting`: for a letter or an instant; `stalled`: it has work in flight, and no one drives it. */
export function stateText({ heldBy, isBusy, isParked, quarantine, tick, unreadable }: WorldInfo): string {
  if (unreadable !== undefined) return 'unreadable'
  if (quarantine !== undefined) return 'quarantine'
  if (tick === undefined) return 'new'
  if (isBusy === undefined) return ''
  if (!isBusy) return 'idle'
  if (heldBy !== undefined) return 'busy'
  return isParked === true ? 'waiting' : 'stalled'
}
