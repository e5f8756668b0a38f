import type { Store, StoredWorld } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { version as present } from '../../base/version.ts'
import { openSnapshot } from '../loop/stored-ticks.ts'

/** One world of a recording: its first snapshot, and all ticks since. */
export interface SavedWorld extends StoredWorld {
  readonly name: string
}

/** A run that can be replayed: a world and the worlds of its sessions. */
export interface Recording {
  readonly root: string
  readonly seed: number
  /** Version of entia that began the recording; absent in old ones. */
  readonly version?: string
  /** The root first. */
  readonly worlds: readonly SavedWorld[]
}

/** The recording of a world that ran with `record: true`, with its sessions. @throws `no-such-world`, `world-locked` */
export async function recordingOf(store: Store, name: string): Promise<Recording> {
  const infos = await store.list()
  const root = infos.find((info) => info.name === name)?.root
  const sessions = infos.filter((info) => info.root === name).map((info) => info.name)
  const worlds: SavedWorld[] = []
  for (const world of [name, ...sessions]) worlds.push(await savedWorld(store, world, world === name ? root : name))
  return recordingWith(name, worlds)
}

async function savedWorld(store: Store, name: string, root: string | undefined): Promise<SavedWorld> {
  const journal = await store.open(name, { record: true, root })
  try {
    const recording = await journal.recording()
    if (recording !== undefined) return { name, ...recording }
  } finally {
    await journal.close()
  }
  throw new EntiaError('no-such-world', `The store has no recording of a world '${name}'. Run it with record: true.`)
}

export function recordingWith(root: string, worlds: readonly SavedWorld[]): Recording {
  const { head, version } = openSnapshot(worlds[0] as SavedWorld)
  return { root, seed: head.seed, ...(version !== undefined && { version }), worlds }
}

/** A sentence that names the version of the recording, if it is not this one. */
export function otherVersion({ version }: Pick<Recording, 'version'>): string | undefined {
  if (version === present) return undefined
  const made = version === undefined ? 'an earlier version of entia' : `entia ${version}`
  return `It was recorded with ${made}; this is entia ${present}, whose systems may do other things.`
}
