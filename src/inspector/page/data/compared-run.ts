import type { TickRow, TicksQuery, TicksReply } from '../../reading/wire.ts'
import { Past } from './past.ts'
import { connection, source } from './state.ts'

/** Where a run to compare is kept: among the worlds that are shown, or in a file that a person has chosen. */
export interface RunPlace {
  readonly world: string
  /** Of `entia sim --save` or `saveRecording`. */
  readonly file?: File | undefined
}

export interface ComparedRun {
  readonly title: string
  /** Its name, if it is among the worlds that are shown. */
  readonly world: string | undefined
  readonly past: Past
}

/** @throws if it is no such file */
export async function openRun({ file, world }: RunPlace): Promise<ComparedRun> {
  if (file !== undefined) return runInFile(file.name, await file.text(), world)
  return { title: world, world, past: pastOf(world, (query) => connection.get<TicksReply>('ticks', query)) }
}

/** The first tick of a run that is kept. */
export async function firstTickOf({ past }: ComparedRun): Promise<number> {
  await past.goTo(0).catch(() => past.goTo(Infinity))
  return past.held[0]
}

function pastOf(world: string, fetch: (query: TicksQuery) => Promise<TicksReply>): Past {
  return new Past({ world, known: source.peek()?.components ?? {}, fetch })
}

interface FileLine {
  readonly entiaRecording?: number
  readonly root?: string
  readonly world?: string
  readonly tick?: number
  readonly snapshot?: number
  readonly rows?: number
  readonly line?: string
}

/** A world of a saved run; its root, if it has none of that name. */
function runInFile(title: string, text: string, wanted: string): ComparedRun {
  const lines = text.split('\n').filter((line) => line !== '')
  const head = lineAt(lines, 0)
  if (head?.entiaRecording === undefined) throw new Error(`${title} must be a saved run or a recording.`)
  const places = new Map<string, { readonly first: number; readonly head: FileLine }>()
  for (let at = 1; ;) {
    const found = lineAt(lines, at)
    if (found?.world === undefined) break
    places.set(found.world, { first: at + 1, head: found })
    at += 1 + (found.snapshot ?? 0) + (found.rows ?? 0)
  }
  const world = places.has(wanted) ? wanted : (head.root ?? '')
  const place = places.get(world)
  if (place === undefined) throw new Error(`${title} has no world that can be compared.`)
  const { rows: count = 0, snapshot: snapshotLines = 0, tick = 0 } = place.head
  const firstRow = place.first + snapshotLines
  if (lines.length < firstRow + count) throw new Error(`${title} is cut off: save the run again.`)
  const newest = tick + count
  const fetch = async ({ from = tick, snapshot: isSnapshotWanted = false, to = newest }: TicksQuery) => {
    // Behind the snapshot, which may be asked for at a later tick.
    const first = isSnapshotWanted ? 0 : Math.max(0, from - tick - 1)
    const rows = lines.slice(firstRow + first, firstRow + Math.max(0, Math.min(to, newest) - tick))
    return {
      ...(isSnapshotWanted && {
        snapshot: { tick, lines: lines.slice(place.first, firstRow).map((line) => (JSON.parse(line) as TickRow).line) },
      }),
      rows: rows.map((line) => JSON.parse(line) as TickRow),
      newest,
      isCut: false,
    }
  }
  return { title: `${title}: ${world}`, world: undefined, past: pastOf(world, fetch) }
}

function lineAt(lines: readonly string[], index: number): FileLine | undefined {
  try {
    return JSON.parse(lines[index] ?? 'null') as FileLine | undefined
  } catch {
    return undefined
  }
}
